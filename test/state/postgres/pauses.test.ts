import "./on-postgres.ts";
import "../pauses.test.ts";
