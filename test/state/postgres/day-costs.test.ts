import "./on-postgres.ts";
import "../day-costs.test.ts";
