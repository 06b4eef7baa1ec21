/** The same seed gives the same choices; their timing depends on the machine. */
export class SeededRandom {
  constructor(private state: number) {}

  /** A number from 0 to 1, by mulberry32. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(low: number, high: number): number {
    return Math.round(low + this.next() * (high - low));
  }

  /** A random part of the list, at least one element. */
  some<T>(all: readonly T[]): T[] {
    const first = this.between(0, all.length - 1);
    return all.filter((_, index) => index === first || this.next() < 0.3);
  }

  pick<T>(all: readonly [T, ...T[]]): T {
    return all[this.between(0, all.length - 1)] ?? all[0];
  }

  shuffled<T>(all: readonly T[]): T[] {
    return all
      .map((one) => ({ one, at: this.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ one }) => one);
  }
}
