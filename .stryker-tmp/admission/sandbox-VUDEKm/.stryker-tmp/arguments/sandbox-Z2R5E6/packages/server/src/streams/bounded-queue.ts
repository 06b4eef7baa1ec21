/** A queue with a size limit between a producer and a slower consumer. */
export class BoundedQueue<T> {
  #entries: { item: T; size: number }[] = [];
  #size = 0;
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor(private readonly limit: { items: number; size: number }) {}

  /** False if the queue is full. An empty queue accepts one item of any size. */
  push(item: T, size: number): boolean {
    const isFull = this.#entries.length >= this.limit.items || this.#size + size > this.limit.size;
    if (isFull && this.#entries.length > 0) return false;
    this.#entries.push({ item, size });
    this.#size += size;
    this.#wake();
    return true;
  }

  /** Items already in the queue can still be read. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  async *read(): AsyncGenerator<T> {
    for (;;) {
      for (let next = this.#entries.shift(); next; next = this.#entries.shift()) {
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
