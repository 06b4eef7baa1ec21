import "./on-postgres.ts";
import "../ledger.test.ts";
