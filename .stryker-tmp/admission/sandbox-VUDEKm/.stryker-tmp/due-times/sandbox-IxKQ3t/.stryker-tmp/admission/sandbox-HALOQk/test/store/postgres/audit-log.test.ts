import "./use-postgres-stores.ts";
import "../audit-log.test.ts";
