/** Runs passes one at a time. Requests during a pass lead to one more pass after it. */
export class PassRunner {
  private current: Promise<void> | undefined;
  private isRequested = false;

  constructor(
    private readonly pass: () => Promise<void>,
    private readonly mayStart: () => boolean,
  ) {}

  get isIdle(): boolean {
    return this.current === undefined;
  }

  request(): void {
    if (!this.mayStart()) return;
    if (this.current) {
      this.isRequested = true;
      return;
    }
    this.current = this.pass().finally(() => {
      this.current = undefined;
      if (!this.isRequested) return;
      this.isRequested = false;
      this.request();
    });
  }

  async whenIdle(): Promise<void> {
    while (this.current) await this.current;
  }
}

/** Refills a pool after a delay, one refill at a time. */
export class RefillTimer {
  private timer: NodeJS.Timeout | undefined;
  private filling: Promise<void> | undefined;
  private state: "new" | "open" | "stopped" = "new";

  constructor(
    private readonly isNeeded: () => boolean,
    private readonly fill: () => Promise<void>,
  ) {}

  get isStopped(): boolean {
    return this.state === "stopped";
  }

  /** Has no effect after `stop()`. */
  start(): void {
    if (!this.isStopped) this.state = "open";
    this.schedule(0);
  }

  schedule(delayMs: number): void {
    clearTimeout(this.timer);
    if (this.state !== "open" || !this.isNeeded()) return;
    this.timer = setTimeout(() => {
      this.filling ??= this.fill().finally(() => {
        this.filling = undefined;
      });
    }, delayMs).unref();
  }

  /** Resolves after the current refill has finished. */
  async stop(): Promise<void> {
    this.state = "stopped";
    clearTimeout(this.timer);
    await this.filling;
  }
}
