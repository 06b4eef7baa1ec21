import "./on-postgres.ts";
import "../approvals.test.ts";
