export {
  Ledger,
  type LedgerEntry,
  type LedgerFilter,
  type RequestEnd,
  type RequestKind,
  type SeenKey,
} from "./ledger.ts";
export type { Usage } from "./reply/usage.ts";
export { loadScript } from "./script/load.ts";
export type { CheckedScript, Script } from "./script/schema.ts";
export { type Rehearsal, type RehearsalOptions, startRehearsal } from "./start.ts";
