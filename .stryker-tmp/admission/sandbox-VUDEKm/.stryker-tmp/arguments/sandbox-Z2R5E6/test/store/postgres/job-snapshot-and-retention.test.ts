import "./use-postgres-stores.ts";
import "../job-snapshot-and-retention.test.ts";
