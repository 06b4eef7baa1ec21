import "./on-postgres.ts";
import "../audit.test.ts";
