import "./use-postgres-stores.ts";
import "../api-tokens.test.ts";
