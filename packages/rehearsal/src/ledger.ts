import type { Usage } from "./reply/usage.ts";

/** Who speaks: the conversation itself, an agent it started, or the binary's own errands. */
export type RequestKind =
  | "main"
  | "subagent"
  | "side"
  | "count_tokens"
  | "models"
  | "probe"
  | "unknown";

export interface SeenKey {
  kind: "x-api-key" | "bearer";
  value: string;
}

/** What became of a request; `open` until it is over. */
export type RequestEnd = "open" | "answered" | "broken_off" | "client_gone";

export interface LedgerEntry {
  id: number;
  at: string;
  method: string;
  path: string;
  kind: RequestKind;
  key?: SeenKey;
  sessionId?: string;
  agentId?: string;
  model?: string;
  stream: boolean;
  prompt?: string;
  bodyHash: string;
  /** The parsed body; gone once newer requests have used up the room for bodies. */
  body?: unknown;
  rule?: string;
  fault?: string;
  usage?: Usage;
  status?: number;
  end: RequestEnd;
  durationMs?: number;
}

export type LedgerFilter = Partial<
  Pick<LedgerEntry, "kind" | "sessionId" | "model" | "rule" | "path" | "method" | "status" | "end">
>;

/** Every request the server saw, in order of arrival. */
export class Ledger {
  private readonly all: LedgerEntry[] = [];
  private lastId = 0;

  constructor(
    private readonly keepBodies: number,
    private readonly keepEntries: number,
  ) {}

  get entries(): readonly LedgerEntry[] {
    return this.all;
  }

  /** The entries that have all the given values. */
  filter(wanted: LedgerFilter): LedgerEntry[] {
    const pairs = Object.entries(wanted).filter(([, value]) => value !== undefined);
    return this.all.filter((entry) => {
      const fields = new Map<string, unknown>(Object.entries(entry));
      return pairs.every(([name, value]) => fields.get(name) === value);
    });
  }

  /** Requests of the conversation itself, without subagents and the binary's own errands. */
  get main(): LedgerEntry[] {
    return this.filter({ kind: "main" });
  }

  add(entry: Omit<LedgerEntry, "id">): LedgerEntry {
    this.lastId += 1;
    const added = { id: this.lastId, ...entry };
    this.all.push(added);
    const aged = this.all.at(-1 - this.keepBodies);
    if (aged) aged.body = undefined;
    if (this.all.length > this.keepEntries) this.all.shift();
    return added;
  }
}
