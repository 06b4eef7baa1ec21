import { type ModelCall, type PricedCall, priceCall, totalTokens } from "./call-usage.ts";
import { type Amount, decideCall, type SpendLimit, type SpendState } from "./decide-call.ts";
import { type AnswerSoFar, type CallRequest, usageOf, worstCase } from "./estimate.ts";
import type { PriceOverrides } from "./prices.ts";
import { SpendLog } from "./spend-log.ts";
import { addCalls, amountOf, noSpending, type Spending } from "./spending.ts";

export interface SpendMeterOptions {
  /** Where each call is recorded. */
  logPath: string;
  limits?: readonly SpendLimit[];
  prices?: PriceOverrides;
  now?: () => number;
}

export type AdmittedCall =
  | { kind: "pass"; call: MeteredCall }
  | { kind: "refuse"; limit: SpendLimit }
  | { kind: "gone" };

interface Waiting {
  request: CallRequest;
  resolve(admitted: AdmittedCall): void;
}

/** Meters the message calls of one run and decides which of them pass. */
export class SpendMeter {
  /** Called when the spending has changed. */
  onChange: (spent: Amount) => void = () => undefined;
  private readonly log: SpendLog;
  private limits: readonly SpendLimit[];
  private readonly open = new Set<MeteredCall>();
  private settled: Spending = noSpending;
  private count = 0;
  private readonly waiting: Waiting[] = [];
  private readonly unknown = new Set<string>();
  private refusal: SpendLimit | undefined;
  private lastReported = 0;

  constructor(private readonly options: SpendMeterOptions) {
    this.log = new SpendLog(options.logPath);
    this.limits = options.limits ?? [];
  }

  /** Waits while calls in flight may use up what is left. */
  admit(request: CallRequest, gone?: AbortSignal): Promise<AdmittedCall> {
    return new Promise((resolve) => {
      const waiting = { request, resolve };
      this.waiting.push(waiting);
      const leave = () => {
        const at = this.waiting.indexOf(waiting);
        if (at === -1) return;
        this.waiting.splice(at, 1);
        resolve({ kind: "gone" });
      };
      gone?.addEventListener("abort", leave, { once: true });
      if (gone?.aborted) leave();
      this.decide();
    });
  }

  setLimits(limits: readonly SpendLimit[]): void {
    this.limits = limits;
    this.decide();
  }

  get spent(): Amount {
    const { usd, usage } = this.settled;
    const inFlight = amountOf(this.openParts());
    return { usd: usd + inFlight.usd, tokens: totalTokens(usage) + inFlight.tokens };
  }

  /** Calls in flight count with what is known of them. */
  get spending(): Spending {
    return addCalls(this.settled, this.openParts());
  }

  /** The limit that the last refused call ran into; undefined once a later call passed. */
  get refusedBy(): SpendLimit | undefined {
    return this.refusal;
  }

  get unknownModels(): string[] {
    return [...this.unknown];
  }

  close(): void {
    this.log.close();
  }

  price(usage: readonly ModelCall[]): PricedCall[] {
    const { parts, unknownModels } = priceCall(usage, this.options.prices);
    for (const model of unknownModels) this.unknown.add(model);
    return parts;
  }

  changed(call: MeteredCall): void {
    const at = new Date((this.options.now ?? Date.now)()).toISOString();
    this.log.append({ call: call.number, at, parts: [...call.parts] });
    if (call.isSettled && this.open.delete(call)) this.settled = addCalls(this.settled, call.parts);
    const { spent } = this;
    // Every call is reported when it begins and ends; in between only what matters to a budget.
    if (call.isSettled || Math.abs(spent.usd - this.lastReported) >= reportStepUsd) {
      this.lastReported = spent.usd;
      this.onChange(spent);
    }
    if (call.isSettled) this.decide();
  }

  /** In the order in which they came, so that a large call is not passed over for ever. */
  private decide(): void {
    for (let [next] = this.waiting; next; [next] = this.waiting) {
      const decision = decideCall(this.state());
      if (decision.kind === "wait") return;
      this.waiting.shift();
      this.refusal = decision.kind === "refuse" ? decision.limit : undefined;
      if (decision.kind === "refuse") next.resolve(decision);
      else next.resolve({ kind: "pass", call: this.begin(next.request) });
    }
  }

  private begin(request: CallRequest): MeteredCall {
    this.count += 1;
    const call = new MeteredCall(this, this.count, request);
    this.open.add(call);
    this.changed(call);
    return call;
  }

  private state(): SpendState {
    const reserved = { usd: 0, tokens: 0 };
    for (const { reserve, parts } of this.open) {
      const known = amountOf(parts);
      reserved.usd += Math.max(0, reserve.usd - known.usd);
      reserved.tokens += Math.max(0, reserve.tokens - known.tokens);
    }
    const { limits, spent } = this;
    return { limits, spent, reserved, callsInFlight: this.open.size };
  }

  private openParts(): PricedCall[] {
    return [...this.open].flatMap(({ parts }) => [...parts]);
  }
}

const reportStepUsd = 0.01;
/** How much an open call may have used beyond its last line in the log. */
const logStepTokens = 2_000;
/** How many bytes of an answer pass before they are looked at again. */
const progressStepBytes = 2_048;

/** One message call from the moment it is forwarded. */
export class MeteredCall {
  parts: readonly PricedCall[];
  readonly reserve: Amount;
  isSettled = false;
  private loggedTokens = 0;
  private nextLookAt = 0;

  constructor(
    private readonly meter: SpendMeter,
    readonly number: number,
    private readonly request: CallRequest,
  ) {
    this.reserve = amountOf(meter.price(worstCase(request)));
    this.parts = meter.price(usageOf(request, unanswered));
  }

  /** Every few kilobytes, since reading along costs time. */
  progress(bytesDown: number, answerSoFar: () => AnswerSoFar): void {
    if (this.isSettled || bytesDown < this.nextLookAt) return;
    this.nextLookAt = bytesDown + progressStepBytes;
    const answer = answerSoFar();
    this.parts = this.meter.price(usageOf(this.request, answer));
    const { tokens } = amountOf(this.parts);
    if (Math.abs(tokens - this.loggedTokens) < logStepTokens) return;
    this.loggedTokens = tokens;
    this.meter.changed(this);
  }

  settle(answer: AnswerSoFar): void {
    if (this.isSettled) return;
    this.parts = this.meter.price(usageOf(this.request, answer));
    this.isSettled = true;
    this.meter.changed(this);
  }
}

const unanswered: AnswerSoFar = { told: [], isComplete: false, bytesDown: 0 };
