import type { ServerWord } from "./link.ts";

const mostPerSecond = 100;
const longestWord = 64 * 1024;

/**
 * A server that floods must fill neither our memory nor claude's time: of what it says unasked, so
 * much passes and the rest is dropped.
 */
export class FloodGuard {
  dropped = 0;
  private second = 0;
  private inSecond = 0;

  passes(word: ServerWord, now: number = Date.now()): boolean {
    const second = Math.floor(now / 1_000);
    if (second !== this.second) {
      this.second = second;
      this.inSecond = 0;
    }
    this.inSecond += 1;
    const fits = this.inSecond <= mostPerSecond && JSON.stringify(word).length <= longestWord;
    if (!fits) this.dropped += 1;
    return fits;
  }
}
