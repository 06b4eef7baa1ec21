export { type RehearsedProvider, rehearsedProviders } from "./providers/rehearsed-providers.ts";
export type { Usage } from "./reply/token-usage.ts";
export {
  Ledger,
  type LedgerEntry,
  type LedgerFilter,
  type RequestKey,
  type RequestKind,
  type RequestOutcome,
} from "./request-ledger.ts";
export { loadScript } from "./script/load-script.ts";
export type { CheckedScript, Script } from "./script/script-schema.ts";
export { type Rehearsal, type RehearsalOptions, startRehearsal } from "./start-rehearsal.ts";
