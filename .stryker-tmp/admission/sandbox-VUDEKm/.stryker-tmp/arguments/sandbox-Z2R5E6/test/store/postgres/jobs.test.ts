import "./use-postgres-stores.ts";
import "../jobs.test.ts";
