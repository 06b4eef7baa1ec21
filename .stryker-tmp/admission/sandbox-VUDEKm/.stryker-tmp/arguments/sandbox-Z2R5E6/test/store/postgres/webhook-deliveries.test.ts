import "./use-postgres-stores.ts";
import "../webhook-deliveries.test.ts";
