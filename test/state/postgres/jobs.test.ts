import "./on-postgres.ts";
import "../jobs.test.ts";
