import "./use-postgres-stores.ts";
import "../approvals.test.ts";
