/** Makes what is missing of a stock, one filling at a time and each a while after it was asked for. */
export class Refill {
  private timer: NodeJS.Timeout | undefined;
  private filling: Promise<void> | undefined;
  private state: "new" | "open" | "stopped" = "new";

  constructor(
    private readonly isWanted: () => boolean,
    private readonly fill: () => Promise<void>,
  ) {}

  get isStopped(): boolean {
    return this.state === "stopped";
  }

  /** A stop is the last word. */
  start(): void {
    if (!this.isStopped) this.state = "open";
    this.in(0);
  }

  in(milliseconds: number): void {
    clearTimeout(this.timer);
    if (this.state !== "open" || !this.isWanted()) return;
    this.timer = setTimeout(() => {
      this.filling ??= this.fill().finally(() => {
        this.filling = undefined;
      });
    }, milliseconds).unref();
  }

  /** When it resolves nothing is being made any more. */
  async stop(): Promise<void> {
    this.state = "stopped";
    clearTimeout(this.timer);
    await this.filling;
  }
}
