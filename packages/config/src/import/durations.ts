import type { Block } from "./block.ts";

/** Smaller numbers may have been meant as seconds. */
const leastMilliseconds = 1_000;

/** A number of milliseconds gets a unit. */
export function translateMilliseconds(block: Block, key: string): void {
  const value = block.number(key);
  if (value === undefined || value < leastMilliseconds) return;
  const text = value % 1000 === 0 ? `${value / 1000}s` : `${value}ms`;
  block.report("renamed", key, `a duration has a unit here: \`${key}: ${text}\``);
  block.set(key, text);
}
