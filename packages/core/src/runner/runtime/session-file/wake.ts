const settleTime = 60;

/**
 * Sleeps until something may be new. A call of `soon` wakes at once and once more when things have
 * settled, because chokidar throttles changes and sends no trailing event; many calls are one.
 */
export class Wake {
  private pending = false;
  private resolve: (() => void) | undefined;
  private settle: NodeJS.Timeout | undefined;
  private readonly regular: NodeJS.Timeout;

  constructor(regularly: number) {
    this.regular = setInterval(() => this.now(), regularly);
  }

  now(): void {
    this.pending = true;
    this.resolve?.();
  }

  soon(): void {
    this.now();
    clearTimeout(this.settle);
    this.settle = setTimeout(() => this.now(), settleTime);
  }

  async next(): Promise<void> {
    if (!this.pending) {
      await new Promise<void>((resolve) => {
        this.resolve = resolve;
      });
    }
    this.pending = false;
    this.resolve = undefined;
  }

  stop(): void {
    clearTimeout(this.settle);
    clearInterval(this.regular);
  }
}
