import { type ClockState, type Limits, readClock } from "./clock.ts";

export interface StopClockOptions {
  limits: Limits;
  startedAt: number;
  /** Signs of life that nobody reports, such as a transcript that grows; asked before a verdict. */
  latestSign: () => Promise<number>;
  onOverdue: (limit: "start_timeout" | "stalled" | "timeout") => void;
}

/** One timer to the next moment at which a limit could be reached. */
export class StopClock {
  private readonly state: ClockState;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(private readonly options: StopClockOptions) {
    const { startedAt } = options;
    this.state = { startedAt, initSeen: false, lastSignOfLife: startedAt, paused: false };
    this.look();
  }

  sign(): void {
    this.state.lastSignOfLife = Date.now();
  }

  begun(): void {
    this.state.initSeen = true;
    this.look();
  }

  pause(paused: boolean): void {
    // Life goes on from here: the time that a tool or a person took is no silence.
    if (this.state.paused && !paused) this.sign();
    this.state.paused = paused;
    this.look();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private look(): void {
    clearTimeout(this.timer);
    if (this.stopped) return;
    const verdict = readClock(this.state, this.options.limits, Date.now());
    if (verdict.kind === "overdue") return void this.judge(verdict.limit);
    // Node takes no longer delay than this; looking again early does no harm.
    const delay = Math.min(verdict.lookAgainIn, 2 ** 31 - 1);
    this.timer = setTimeout(() => this.look(), delay);
  }

  private async judge(limit: "start_timeout" | "stalled" | "timeout"): Promise<void> {
    if (limit === "stalled") {
      this.state.lastSignOfLife = Math.max(
        this.state.lastSignOfLife,
        await this.options.latestSign(),
      );
      const again = readClock(this.state, this.options.limits, Date.now());
      if (again.kind === "in_time") return this.look();
    }
    if (!this.stopped) this.options.onOverdue(limit);
  }
}
