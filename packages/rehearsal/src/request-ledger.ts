import type { RehearsedProvider } from "./providers/rehearsed-providers.ts";
import type { Usage } from "./reply/token-usage.ts";

/** The kind of a request: the conversation, a subagent, a side request of Claude Code, or another endpoint. */
export type RequestKind =
  | "main"
  | "subagent"
  | "side"
  | "count_tokens"
  | "models"
  | "probe"
  | "unknown";

export interface RequestKey {
  kind: "x-api-key" | "bearer" | "sigv4";
  value: string;
}

/** The outcome of a request; `open` until it has ended. */
export type RequestOutcome = "open" | "answered" | "broken_off" | "client_gone";

export interface LedgerEntry {
  id: number;
  at: string;
  method: string;
  path: string;
  kind: RequestKind;
  /** The provider whose protocol the request used, if not that of the Anthropic API. */
  provider?: RehearsedProvider;
  key?: RequestKey;
  sessionId?: string;
  agentId?: string;
  /** Beta features of the API that the request asks for. */
  betas?: string[];
  model?: string;
  stream: boolean;
  prompt?: string;
  bodyHash: string;
  /** The parsed body. Removed when newer requests exceed `maxBodies`. */
  body?: unknown;
  rule?: string;
  fault?: string;
  usage?: Usage;
  status?: number;
  end: RequestOutcome;
  durationMs?: number;
}

export type LedgerFilter = Partial<
  Pick<
    LedgerEntry,
    "kind" | "provider" | "sessionId" | "model" | "rule" | "path" | "method" | "status" | "end"
  >
>;

/** Every request the server received, in order of arrival. */
export class Ledger {
  private readonly ledgerEntries: LedgerEntry[] = [];
  private lastId = 0;

  constructor(
    private readonly maxBodies: number,
    private readonly maxEntries: number,
  ) {}

  get entries(): readonly LedgerEntry[] {
    return this.ledgerEntries;
  }

  /** The entries that match all criteria. */
  filter(criteria: LedgerFilter): LedgerEntry[] {
    const pairs = Object.entries(criteria).filter(([, value]) => value !== undefined);
    return this.ledgerEntries.filter((entry) => {
      const fields = new Map<string, unknown>(Object.entries(entry));
      return pairs.every(([name, value]) => fields.get(name) === value);
    });
  }

  /** Requests of the conversation, without subagents and side requests. */
  get main(): LedgerEntry[] {
    return this.filter({ kind: "main" });
  }

  add(entry: Omit<LedgerEntry, "id">): LedgerEntry {
    this.lastId += 1;
    const added = { id: this.lastId, ...entry };
    this.ledgerEntries.push(added);
    const expiredEntry = this.ledgerEntries.at(-1 - this.maxBodies);
    if (expiredEntry) expiredEntry.body = undefined;
    if (this.ledgerEntries.length > this.maxEntries) this.ledgerEntries.shift();
    return added;
  }
}
