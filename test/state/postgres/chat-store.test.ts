import "./on-postgres.ts";
import "../chat-store.test.ts";
