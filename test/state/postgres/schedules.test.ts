import "./on-postgres.ts";
import "../schedules.test.ts";
