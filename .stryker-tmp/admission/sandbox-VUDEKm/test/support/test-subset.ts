import { test } from "vitest";

/**
 * `npm run test:wide` runs all combinations and the most samples. `npm test` omits combinations
 * that only repeat a test with another binary, zone or seed, to finish within minutes.
 */
export const isWide = process.env.HERDCTL_TEST_WIDE === "1";

/** A test of the wide round only; other tests cover its main promise in the usual round. */
export function wideTest(name: string, run: () => Promise<void>, timeout?: number): void {
  if (isWide) test(name, run, timeout);
}

/** All elements in the wide round, otherwise the first few. */
export function testSubset<T>(all: readonly T[], defaultCount: number): T[] {
  return isWide ? [...all] : all.slice(0, defaultCount);
}

/** The number of samples in the wide round, otherwise a share of it. */
export function sampleCount(most: number, share = 0.25): number {
  return isWide ? most : Math.ceil(most * share);
}
