import "./on-postgres.ts";
import "../access.test.ts";
