import "./on-postgres.ts";
import "../many-jobs.test.ts";
