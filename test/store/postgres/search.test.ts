import "./use-postgres-stores.ts";
import "../search.test.ts";
