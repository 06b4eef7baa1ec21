import type { IncomingHttpHeaders } from "node:http";
import { type RateLimit, readRateLimit } from "./limits.ts";
import type { AnswerSoFar } from "./metering/estimate.ts";
import type { MeteredCall } from "./metering/spend-meter.ts";
import { addTokens, noTokens, type TokenUsage } from "./token-usage.ts";
import { type AnswerReader, answerReader } from "./usage.ts";

/** How a request ended. `cut`: the upstream broke off its answer, and so did we. */
export type Ending = "complete" | "cut" | "client_gone" | "unreachable";

export interface MeteredRequest {
  id: number;
  method: string;
  path: string;
  startedAt: number;
  endedAt?: number;
  bytesUp: number;
  bytesDown: number;
  status?: number;
  model?: string;
  usage?: TokenUsage;
  errorType?: string;
  limit?: RateLimit;
  ending?: Ending;
  /** The system's code when the upstream could not be reached, such as `ECONNREFUSED`. */
  failure?: string;
}

export interface Refusal {
  at: number;
  method: string;
  target: string;
  status: number;
  reason: string;
  /** The line of the fleet file that would let it pass, where one would. */
  remedy?: string;
}

export type GatewayEvent =
  | { type: "request"; request: Readonly<MeteredRequest> }
  | { type: "response"; request: Readonly<MeteredRequest> }
  | { type: "end"; request: Readonly<MeteredRequest> }
  | { type: "refused"; refusal: Refusal };

export interface MeterSnapshot {
  requests: number;
  open: number;
  refused: number;
  bytesUp: number;
  bytesDown: number;
  usage?: TokenUsage;
  byModel: Record<string, TokenUsage>;
  /** The limit that stands: the last refusal for load or limits since an answer succeeded. */
  limit?: RateLimit;
  /** When anything last passed in either direction. */
  lastActivityAt?: number;
  /** The first of them, up to a number; `refused` counts all. */
  refusals: readonly Refusal[];
}

const refusalsKept = 100;
const targetKept = 200;

/** Counts what passes, without holding it. Nothing in it ever carries a header or a body. */
export class Meter {
  private state: MeterSnapshot = nothingYet();

  constructor(
    private readonly now: () => number,
    private readonly onEvent: (event: GatewayEvent) => void,
  ) {}

  snapshot(): MeterSnapshot {
    return { ...this.state, byModel: { ...this.state.byModel } };
  }

  /** Requests that are open stay so. */
  countAnew(): void {
    const { requests, open } = this.state;
    this.state = { ...nothingYet(), requests, open };
  }

  begin(method: string, path: string, call?: MeteredCall): Exchange {
    this.state.requests += 1;
    this.state.open += 1;
    const exchange = new Exchange(this, this.state.requests, method, path, this.now(), call);
    this.onEvent({ type: "request", request: exchange.record });
    return exchange;
  }

  refuse(refusal: Omit<Refusal, "at">): void {
    const kept = { ...refusal, target: refusal.target.slice(0, targetKept), at: this.now() };
    this.state.refused += 1;
    if (this.state.refusals.length < refusalsKept) {
      this.state.refusals = [...this.state.refusals, kept];
    }
    this.onEvent({ type: "refused", refusal: kept });
  }

  passed(direction: "bytesUp" | "bytesDown", bytes: number): void {
    this.state[direction] += bytes;
    this.state.lastActivityAt = this.now();
  }

  responded(record: MeteredRequest, headers: IncomingHttpHeaders): void {
    const now = this.now();
    this.state.lastActivityAt = now;
    record.limit = readRateLimit(record.status ?? 0, headers, now);
    if (record.limit) this.state.limit = record.limit;
    else if (record.method === "POST" && record.status === 200) this.state.limit = undefined;
    this.onEvent({ type: "response", request: record });
  }

  ended(record: MeteredRequest): void {
    record.endedAt = this.now();
    this.state.open -= 1;
    const { usage, model } = record;
    if (usage) {
      this.state.usage = addTokens(this.state.usage ?? noTokens, usage);
      const name = model ?? "unknown";
      this.state.byModel[name] = addTokens(this.state.byModel[name] ?? noTokens, usage);
    }
    this.onEvent({ type: "end", request: record });
  }
}

/** One request on its way up and its answer on its way down. */
export class Exchange {
  readonly record: MeteredRequest;
  private reader: AnswerReader | undefined;

  constructor(
    private readonly meter: Meter,
    id: number,
    method: string,
    path: string,
    startedAt: number,
    private readonly call?: MeteredCall,
  ) {
    this.record = { id, method, path, startedAt, bytesUp: 0, bytesDown: 0 };
  }

  up(chunk: Buffer): void {
    this.record.bytesUp += chunk.length;
    this.meter.passed("bytesUp", chunk.length);
  }

  down(chunk: Buffer): void {
    this.record.bytesDown += chunk.length;
    this.meter.passed("bytesDown", chunk.length);
    this.reader?.read(chunk);
    this.call?.progress(this.record.bytesDown, () => this.answerSoFar());
  }

  responded(status: number, headers: IncomingHttpHeaders): void {
    this.record.status = status;
    this.reader = answerReader(headers);
    this.meter.responded(this.record, headers);
  }

  end(ending: Ending, failure?: string): void {
    if (this.record.ending !== undefined) return;
    Object.assign(this.record, { ending, failure }, this.reader?.facts());
    this.call?.settle(this.answerSoFar());
    this.meter.ended(this.record);
  }

  private answerSoFar(): AnswerSoFar {
    const { status, bytesDown, ending, failure } = this.record;
    const billed = this.reader?.billed(ending !== undefined);
    const { parts, isComplete } = billed ?? { parts: [], isComplete: false };
    return { status, told: parts, isComplete, bytesDown, ending, failure };
  }
}

function nothingYet(): MeterSnapshot {
  return {
    requests: 0,
    open: 0,
    refused: 0,
    bytesUp: 0,
    bytesDown: 0,
    byModel: {},
    refusals: [],
  };
}
