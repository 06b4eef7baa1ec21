import "./use-postgres-stores.ts";
import "../schedules.test.ts";
