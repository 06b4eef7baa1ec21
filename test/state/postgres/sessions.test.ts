import "./on-postgres.ts";
import "../sessions.test.ts";
