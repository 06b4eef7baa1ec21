/** Lets in so many at a time, the others in the order they came. */
export class Turnstile {
  #room: number;
  readonly #waiting: (() => void)[] = [];

  constructor(room: number) {
    this.#room = room;
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.#room === 0) await new Promise<void>((enter) => this.#waiting.push(enter));
    else this.#room -= 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#room += 1;
    }
  }
}
