import type { ResolvedAgent } from "@herdctl/config";

export interface DeadlineTimerOptions {
  limits: DeadlineLimits;
  startedAt: number;
  /** Activity that is not reported by events, such as transcript writes. Read before a run counts as stalled. */
  readLatestActivity: () => Promise<number>;
  onOverdue: (limit: "start_timeout" | "stalled" | "timeout") => void;
}

/** Schedules one timer for the next moment at which a limit can be reached. */
export class DeadlineTimer {
  private readonly state: DeadlineState;
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(private readonly options: DeadlineTimerOptions) {
    const { startedAt } = options;
    this.state = { startedAt, isInitialized: false, lastActivityAt: startedAt, isPaused: false };
    this.schedule();
  }

  recordActivity(): void {
    this.state.lastActivityAt = Date.now();
  }

  markInitialized(): void {
    this.state.isInitialized = true;
    this.schedule();
  }

  pause(isPaused: boolean): void {
    // The time that a tool or a person took does not count towards `stall`.
    if (this.state.isPaused && !isPaused) this.recordActivity();
    this.state.isPaused = isPaused;
    this.schedule();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private schedule(): void {
    clearTimeout(this.timer);
    if (this.isStopped) return;
    const check = checkDeadlines(this.state, this.options.limits, Date.now());
    if (check.kind === "overdue") return void this.confirmOverdue(check.limit);
    // The maximum delay of `setTimeout`; checking too early does no harm.
    const delayMs = Math.min(check.recheckInMs, 2 ** 31 - 1);
    this.timer = setTimeout(() => this.schedule(), delayMs);
  }

  private async confirmOverdue(limit: "start_timeout" | "stalled" | "timeout"): Promise<void> {
    if (limit === "stalled") {
      this.state.lastActivityAt = Math.max(
        this.state.lastActivityAt,
        await this.options.readLatestActivity(),
      );
      const recheck = checkDeadlines(this.state, this.options.limits, Date.now());
      if (recheck.kind === "in_time") return this.schedule();
    }
    if (!this.isStopped) this.options.onOverdue(limit);
  }
}

export type DeadlineLimits = ResolvedAgent["timeouts"];

/** The inputs of the deadline check; all times in milliseconds. */
export interface DeadlineState {
  startedAt: number;
  isInitialized: boolean;
  lastActivityAt: number;
  /** True while the run waits for a tool or a person; it cannot stall then. */
  isPaused: boolean;
}

export type DeadlineCheck =
  | { kind: "in_time"; recheckInMs: number }
  | { kind: "overdue"; limit: "start_timeout" | "stalled" | "timeout" };

export function checkDeadlines(
  state: DeadlineState,
  limits: DeadlineLimits,
  now: number,
): DeadlineCheck {
  const totalLeftMs = state.startedAt + limits.total - now;
  if (totalLeftMs <= 0) return { kind: "overdue", limit: "timeout" };
  if (!state.isInitialized) {
    const startLeftMs = state.startedAt + limits.start - now;
    if (startLeftMs <= 0) return { kind: "overdue", limit: "start_timeout" };
    return { kind: "in_time", recheckInMs: Math.min(totalLeftMs, startLeftMs) };
  }
  const stallLeftMs = state.lastActivityAt + limits.stall - now;
  if (state.isPaused) return { kind: "in_time", recheckInMs: Math.min(totalLeftMs, limits.stall) };
  if (stallLeftMs <= 0) return { kind: "overdue", limit: "stalled" };
  return { kind: "in_time", recheckInMs: Math.min(totalLeftMs, stallLeftMs) };
}
