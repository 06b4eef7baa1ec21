import "./use-postgres-stores.ts";
import "../pauses.test.ts";
