import "./on-postgres.ts";
import "../questions.test.ts";
