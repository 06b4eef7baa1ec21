import "./use-postgres-stores.ts";
import "../chat-messages.test.ts";
