import { test } from "vitest";

/**
 * `npm run test:wide` goes through every combination and the most samples; `npm test` takes a slice
 * of those that only say the same again with another binary, zone or seed, to end within minutes.
 */
export const isWide = process.env.HERDCTL_TEST_WIDE === "1";

/** A test of the wide round alone: the usual one has others that show the main promise. */
export function wideTest(name: string, run: () => Promise<void>, timeout?: number): void {
  if (isWide) test(name, run, timeout);
}

/** All of them in the wide round, else the first few. */
export function sliceOf<T>(all: readonly T[], usual: number): T[] {
  return isWide ? [...all] : all.slice(0, usual);
}

/** So many samples in the wide round, else a share of them. */
export function samples(most: number, share = 0.25): number {
  return isWide ? most : Math.ceil(most * share);
}
