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
