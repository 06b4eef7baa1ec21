/** Between one who writes and one who reads at his own pace, up to a limit. */
export class BoundedQueue<T> {
  #waiting: { item: T; size: number }[] = [];
  #size = 0;
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor(private readonly limit: { items: number; size: number }) {}

  /** False when there is no room. One item always has room, however large. */
  push(item: T, size: number): boolean {
    const isFull = this.#waiting.length >= this.limit.items || this.#size + size > this.limit.size;
    if (isFull && this.#waiting.length > 0) return false;
    this.#waiting.push({ item, size });
    this.#size += size;
    this.#wake();
    return true;
  }

  /** What is in it can still be read. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  async *read(): AsyncGenerator<T> {
    for (;;) {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
        this.#size -= next.size;
        yield next.item;
      }
      if (this.#isClosed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
