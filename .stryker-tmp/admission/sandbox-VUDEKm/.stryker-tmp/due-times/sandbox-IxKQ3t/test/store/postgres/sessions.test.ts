import "./use-postgres-stores.ts";
import "../sessions.test.ts";
