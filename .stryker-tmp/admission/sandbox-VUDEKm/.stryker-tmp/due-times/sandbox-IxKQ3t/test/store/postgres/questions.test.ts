import "./use-postgres-stores.ts";
import "../questions.test.ts";
