/** Runs at most `maxConcurrent` calls at a time; waiting calls start in arrival order. */
export class Semaphore {
  #freeSlots: number;
  readonly #waiting: (() => void)[] = [];

  constructor(maxConcurrent: number) {
    this.#freeSlots = maxConcurrent;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#freeSlots === 0) await new Promise<void>((enter) => this.#waiting.push(enter));
    else this.#freeSlots -= 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#freeSlots += 1;
    }
  }
}
