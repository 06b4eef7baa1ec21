import "./on-postgres.ts";
import "../deliveries.test.ts";
