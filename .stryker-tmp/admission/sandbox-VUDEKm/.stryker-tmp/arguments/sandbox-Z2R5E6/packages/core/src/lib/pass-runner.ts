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
