import "./use-postgres-stores.ts";
import "../search-performance.test.ts";
