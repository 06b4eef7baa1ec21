import "./use-postgres-stores.ts";
import "../due-time-ledger.test.ts";
