import { setTimeout as delay } from "node:timers/promises";
import { ChatError } from "./connector.ts";

const firstPause = 500;
const longestPause = 30_000;

/** Tries until it is done, it can never be done, or nobody wants it any more. */
export async function persevere<T>(
  work: (attempt: number) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      const isFinal = error instanceof ChatError && !error.mayPass;
      if (isFinal || signal.aborted) throw error;
      const pause = Math.min(firstPause * 2 ** attempt, longestPause);
      await delay(pause, undefined, { signal });
    }
  }
}
