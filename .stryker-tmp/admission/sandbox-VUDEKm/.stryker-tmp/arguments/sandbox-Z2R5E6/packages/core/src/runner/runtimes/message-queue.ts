/**
 * An unbounded queue between the reader of claude's output and its consumer. The reader must never
 * wait, because an older claude loses output that a slow reader leaves unread.
 */
export class MessageQueue<T> implements AsyncIterable<T> {
  private readonly queued: T[] = [];
  private wake: (() => void) | undefined;
  private hasEnded = false;

  push(message: T): void {
    this.queued.push(message);
    this.wake?.();
  }

  end(): void {
    this.hasEnded = true;
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      yield* this.queued.splice(0);
      if (this.queued.length > 0) continue;
      if (this.hasEnded) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}
