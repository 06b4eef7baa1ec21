import type { IncomingMessage, ServerResponse } from "node:http";
import {
  describeLimit,
  type PriceOverrides,
  type SpendAmount,
  type SpendLimit,
} from "../../contract/spend-limit.ts";
import type { BodyReader } from "../policy/parse-body.ts";
import type { PathFacts } from "../providers/contract.ts";
import {
  addPricedUsage,
  type ModelUsage,
  noSpending,
  type PricedUsage,
  priceUsage,
  type Spending,
  totalAmount,
  totalTokens,
} from "./call-usage.ts";
import {
  billableUsage,
  type CallRequest,
  type ResponseProgress,
  readCallRequest,
  worstCaseUsage,
} from "./estimate.ts";
import { SpendLog } from "./spend-log.ts";

interface SpendMeterOptions {
  /** The file in which each call is recorded. */
  logPath: string;
  limits?: readonly SpendLimit[];
  prices?: PriceOverrides;
  now?: () => number;
}

type AdmitResult =
  | { kind: "pass"; call: MeteredCall }
  | { kind: "refuse"; limit: SpendLimit }
  | { kind: "gone" };

interface WaitingCall {
  request: CallRequest;
  resolve(admitted: AdmitResult): void;
}

/** Meters the message calls of one run and decides which of them are admitted. */
export class SpendMeter {
  /** Called when the spending changes. */
  onChange: (spent: SpendAmount) => void = () => undefined;
  private readonly log: SpendLog;
  private limits: readonly SpendLimit[];
  private readonly openCalls = new Set<MeteredCall>();
  private settled: Spending = noSpending;
  private lastCallNumber = 0;
  private readonly waiting: WaitingCall[] = [];
  private lastRefusal: SpendLimit | undefined;
  private lastReportedUsd = 0;

  constructor(private readonly options: SpendMeterOptions) {
    this.log = new SpendLog(options.logPath);
    this.limits = options.limits ?? [];
  }

  /** Waits while calls in flight may use up the remaining budget. */
  admit(request: CallRequest, clientGone?: AbortSignal): Promise<AdmitResult> {
    return new Promise((resolve) => {
      const waiting = { request, resolve };
      this.waiting.push(waiting);
      const withdraw = () => {
        const index = this.waiting.indexOf(waiting);
        if (index === -1) return;
        this.waiting.splice(index, 1);
        resolve({ kind: "gone" });
      };
      clientGone?.addEventListener("abort", withdraw, { once: true });
      if (clientGone?.aborted) withdraw();
      this.admitWaiting();
    });
  }

  setLimits(limits: readonly SpendLimit[]): void {
    this.limits = limits;
    this.admitWaiting();
  }

  get spent(): SpendAmount {
    const { usd, usage } = this.settled;
    const inFlight = totalAmount(this.openUsage());
    return { usd: usd + inFlight.usd, tokens: totalTokens(usage) + inFlight.tokens };
  }

  /** Includes the known usage of calls in flight. */
  get spending(): Spending {
    return addPricedUsage(this.settled, this.openUsage());
  }

  /** The limit for which the last call was refused; undefined after a later call passed. */
  get refusedBy(): SpendLimit | undefined {
    return this.lastRefusal;
  }

  close(): void {
    this.log.close();
  }

  price(usage: readonly ModelUsage[]): PricedUsage[] {
    return priceUsage(usage, this.options.prices);
  }

  onCallChanged(call: MeteredCall): void {
    const at = new Date((this.options.now ?? Date.now)()).toISOString();
    // defence: call-logged-first
    this.log.append({ call: call.number, at, parts: [...call.usage] });
    if (call.isSettled && this.openCalls.delete(call))
      this.settled = addPricedUsage(this.settled, call.usage);
    const { spent } = this;
    // Report every call at its start and end; in between, only changes that matter to a budget.
    if (call.isSettled || Math.abs(spent.usd - this.lastReportedUsd) >= reportStepUsd) {
      this.lastReportedUsd = spent.usd;
      this.onChange(spent);
    }
    if (call.isSettled) this.admitWaiting();
  }

  /** In order of arrival, so that a large call does not starve. */
  private admitWaiting(): void {
    for (let [next] = this.waiting; next; [next] = this.waiting) {
      const decision = decideCall(this.spendState());
      if (decision.kind === "wait") return;
      this.waiting.shift();
      this.lastRefusal = decision.kind === "refuse" ? decision.limit : undefined;
      if (decision.kind === "refuse") next.resolve(decision);
      else next.resolve({ kind: "pass", call: this.begin(next.request) });
    }
  }

  private begin(request: CallRequest): MeteredCall {
    this.lastCallNumber += 1;
    const call = new MeteredCall(this, this.lastCallNumber, request);
    this.openCalls.add(call);
    this.onCallChanged(call);
    return call;
  }

  private spendState(): SpendState {
    const reserved = { usd: 0, tokens: 0 };
    for (const { reservedAmount, usage } of this.openCalls) {
      const known = totalAmount(usage);
      reserved.usd += Math.max(0, reservedAmount.usd - known.usd);
      reserved.tokens += Math.max(0, reservedAmount.tokens - known.tokens);
    }
    const { limits, spent } = this;
    return { limits, spent, reserved, callsInFlight: this.openCalls.size };
  }

  private openUsage(): PricedUsage[] {
    return [...this.openCalls].flatMap(({ usage }) => [...usage]);
  }
}

const reportStepUsd = 0.01;
/** The usage of an open call may exceed its last log line by this much. */
const logStepTokens = 2_000;
/** The usage is updated after this many bytes of a response. */
const progressStepBytes = 2_048;

/** A forwarded message call. */
export class MeteredCall {
  usage: readonly PricedUsage[];
  readonly reservedAmount: SpendAmount;
  isSettled = false;
  private loggedTokens = 0;
  private nextUpdateBytes = 0;

  constructor(
    private readonly meter: SpendMeter,
    readonly number: number,
    private readonly request: CallRequest,
  ) {
    this.reservedAmount = totalAmount(meter.price(worstCaseUsage(request)));
    this.usage = meter.price(billableUsage(request, noResponse));
  }

  /** Only updates every few kilobytes, because computing the usage takes time. */
  onProgress(bytesDown: number, readProgress: () => ResponseProgress): void {
    if (this.isSettled || bytesDown < this.nextUpdateBytes) return;
    this.nextUpdateBytes = bytesDown + progressStepBytes;
    const progress = readProgress();
    this.usage = this.meter.price(billableUsage(this.request, progress));
    const { tokens } = totalAmount(this.usage);
    if (Math.abs(tokens - this.loggedTokens) < logStepTokens) return;
    this.loggedTokens = tokens;
    this.meter.onCallChanged(this);
  }

  settle(progress: ResponseProgress): void {
    if (this.isSettled) return;
    this.usage = this.meter.price(billableUsage(this.request, progress));
    this.isSettled = true;
    this.meter.onCallChanged(this);
  }
}

const noResponse: ResponseProgress = { reportedUsage: [], isComplete: false, bytesDown: 0 };

export interface SpendState {
  limits: readonly SpendLimit[];
  /** Settled calls, and the known usage of calls in flight. */
  spent: SpendAmount;
  /** Further amounts that calls in flight may use. */
  reserved: SpendAmount;
  callsInFlight: number;
}

type CallDecision =
  | { kind: "pass" }
  /** Wait until a call in flight has ended, because the remaining budget is unknown before. */
  | { kind: "wait" }
  | { kind: "refuse"; limit: SpendLimit };

/** Allows for floating-point noise. */
const roundingTolerance = 1e-9;

/**
 * Admits a call if budget remains after all calls in flight. A single call may exceed a limit, because
 * its cost is only known afterwards; concurrent calls may not.
 */
export function decideCall({ limits, spent, reserved, callsInFlight }: SpendState): CallDecision {
  const reached = limits.find(({ unit, ceiling }) => spent[unit] + roundingTolerance >= ceiling);
  // defence: gateway-spend-limit
  if (reached) return { kind: "refuse", limit: reached };
  const couldBeReached = limits.some(
    ({ unit, ceiling }) => spent[unit] + reserved[unit] + roundingTolerance >= ceiling,
  );
  return couldBeReached && /* defence: concurrent-calls */ callsInFlight > 0
    ? { kind: "wait" }
    : { kind: "pass" };
}

/** The account that pays for the calls of a run. */
export interface SpendAccount {
  /** Undefined between two turns of a session, when spending could not be recorded. */
  meter: SpendMeter | undefined;
}

type CallAdmission =
  | { kind: "pass"; bytes: Buffer; call: MeteredCall }
  | { kind: "refuse"; status: 400 | 413 | 529; reason: string }
  | { kind: "gone" };

/**
 * Admits a message call to spend, or refuses it. Refusals have status 400, because `claude` reports
 * that immediately. It would retry a 429 or 5xx for minutes, and report a 403 as a failed login.
 */
export async function admitCall(
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer | undefined,
  {
    account,
    bodyReader,
    facts,
  }: { account: SpendAccount; bodyReader: BodyReader; facts: PathFacts },
): Promise<CallAdmission> {
  const bodyRead = body ? { kind: "read" as const, bytes: body } : await bodyReader.read(request);
  if (bodyRead.kind === "gone") return bodyRead;
  if (bodyRead.kind === "refused") return { ...bodyRead, kind: "refuse" };
  const { bytes } = bodyRead;
  const { meter } = account;
  if (!meter) return { kind: "refuse", status: 400, reason: "no turn of this run is in progress" };
  const clientGone = new AbortController();
  const onClose = () => clientGone.abort();
  response.once("close", onClose);
  if (response.destroyed) onClose();
  const inBody = readCallRequest(bytes, request.headers["content-encoding"]);
  const callRequest = {
    ...inBody,
    model: facts.model ?? inBody.model,
    isStream: facts.isStream ?? inBody.isStream,
  };
  const admitted = await meter.admit(callRequest, clientGone.signal);
  response.off("close", onClose);
  if (admitted.kind !== "refuse")
    return admitted.kind === "gone" ? admitted : { ...admitted, bytes };
  return { kind: "refuse", status: 400, reason: describeLimit(admitted.limit) };
}
