import "./use-postgres-stores.ts";
import "../daily-costs.test.ts";
