import type { IncomingHttpHeaders } from "node:http";
import { addTokens, noTokens, type TokenUsage } from "../../claude/token-usage.ts";
import type { RefusedHost } from "./egress/traffic.ts";
import type { ResponseProgress } from "./metering/estimate.ts";
import type { MeteredCall } from "./metering/spend-meter.ts";
import {
  createResponseReader,
  type RateLimit,
  type ResponseReader,
  readRateLimit,
} from "./response-reader.ts";

/** How a request ended. `cut`: the upstream's response was incomplete. */
type RequestEnding = "complete" | "cut" | "client_gone" | "unreachable";

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
  /** The message of an error response, possibly with an echoed secret. */
  errorMessage?: string;
  limit?: RateLimit;
  ending?: RequestEnding;
  /** The system error code if the upstream could not be reached, such as `ECONNREFUSED`. */
  failure?: string;
}

interface Refusal {
  at: number;
  method: string;
  target: string;
  status: number;
  reason: string;
  /** The fleet file setting that would allow it, if there is one. */
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
  /** The current limit: the last rejection because of load or limits since the last success. */
  limit?: RateLimit;
  /** Time of the last traffic in either direction. */
  lastActivityAt?: number;
  /** The first refusals, up to a maximum; `refused` counts all. */
  refusals: readonly Refusal[];
}

const maxRefusals = 100;
const maxTargetLength = 200;

/** Counts traffic. It never stores headers or bodies. */
export class TrafficMeter {
  private state: MeterSnapshot = emptySnapshot();

  constructor(
    private readonly now: () => number,
    private readonly onEvent: (event: GatewayEvent) => void,
  ) {}

  snapshot(): MeterSnapshot {
    return { ...this.state, byModel: { ...this.state.byModel } };
  }

  /** Open requests stay open. */
  resetCounters(): void {
    const { requests, open } = this.state;
    this.state = { ...emptySnapshot(), requests, open };
  }

  begin(method: string, path: string, call?: MeteredCall): Exchange {
    this.state.requests += 1;
    this.state.open += 1;
    const exchange = new Exchange(this, this.state.requests, method, path, this.now(), call);
    this.onEvent({ type: "request", request: exchange.record });
    return exchange;
  }

  refuse(refusal: Omit<Refusal, "at">): void {
    const kept = { ...refusal, target: refusal.target.slice(0, maxTargetLength), at: this.now() };
    this.state.refused += 1;
    if (this.state.refusals.length < maxRefusals) {
      this.state.refusals = [...this.state.refusals, kept];
    }
    this.onEvent({ type: "refused", refusal: kept });
  }

  addBytes(direction: "bytesUp" | "bytesDown", bytes: number): void {
    this.state[direction] += bytes;
    this.state.lastActivityAt = this.now();
  }

  recordResponse(record: MeteredRequest, headers: IncomingHttpHeaders): void {
    const now = this.now();
    this.state.lastActivityAt = now;
    record.limit = readRateLimit(record.status ?? 0, headers, now);
    if (record.limit) this.state.limit = record.limit;
    else if (record.method === "POST" && record.status === 200) this.state.limit = undefined;
    this.onEvent({ type: "response", request: record });
  }

  recordEnd(record: MeteredRequest): void {
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

/** One request and its response. */
export class Exchange {
  readonly record: MeteredRequest;
  private reader: ResponseReader | undefined;

  constructor(
    private readonly meter: TrafficMeter,
    id: number,
    method: string,
    path: string,
    startedAt: number,
    private readonly call?: MeteredCall,
  ) {
    this.record = { id, method, path, startedAt, bytesUp: 0, bytesDown: 0 };
  }

  addRequestChunk(chunk: Buffer): void {
    this.record.bytesUp += chunk.length;
    this.meter.addBytes("bytesUp", chunk.length);
  }

  addResponseChunk(chunk: Buffer): void {
    this.record.bytesDown += chunk.length;
    this.meter.addBytes("bytesDown", chunk.length);
    this.reader?.read(chunk);
    this.call?.onProgress(this.record.bytesDown, () => this.responseProgress());
  }

  recordResponse(status: number, headers: IncomingHttpHeaders): void {
    this.record.status = status;
    this.reader = createResponseReader(headers);
    this.meter.recordResponse(this.record, headers);
  }

  end(ending: RequestEnding, failure?: string): void {
    if (this.record.ending !== undefined) return;
    Object.assign(this.record, { ending, failure }, this.reader?.summary());
    this.call?.settle(this.responseProgress());
    this.meter.recordEnd(this.record);
  }

  private responseProgress(): ResponseProgress {
    const { status, bytesDown, ending, failure } = this.record;
    const billed = this.reader?.billedUsage(ending !== undefined);
    const { usage: parts, isComplete } = billed ?? { usage: [], isComplete: false };
    return { status, reportedUsage: parts, isComplete, bytesDown, ending, failure };
  }
}

function emptySnapshot(): MeterSnapshot {
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

/** A request that the gateway or the egress proxy refused, for the job's record. */
export interface RefusedRequest {
  /** `registry.example.com:443`, or `POST /v1/files`. */
  target: string;
  reason: string;
  remedy?: string;
  count: number;
}

/**
 * Claude Code itself tries to reach this host beside the gateway, in every job. It needs no answer,
 * and opening it would be a way out, so the record does not suggest it. The fleet's log has it.
 */
function isWorthReporting({ host, port }: RefusedHost): boolean {
  return !(host === "api.anthropic.com" && port === 443);
}

/** Summarizes the refusals of gateway and egress proxy; equal ones are counted. */
export function summarizeRefusals(
  api: Pick<MeterSnapshot, "refusals"> | undefined,
  hosts: readonly RefusedHost[],
): RefusedRequest[] {
  const byKey = new Map<string, RefusedRequest>();
  for (const { method, target, reason, remedy } of api?.refusals ?? []) {
    const requested = `${method} ${target.split("?")[0]}`;
    const key = `${requested} ${reason}`;
    const existing = byKey.get(key);
    byKey.set(key, { target: requested, reason, remedy, count: (existing?.count ?? 0) + 1 });
  }
  return [
    ...byKey.values(),
    ...hosts.filter(isWorthReporting).map(({ host, port, reason, remedy, count }) => ({
      target: `${host}:${port}`,
      reason,
      remedy,
      count,
    })),
  ];
}
