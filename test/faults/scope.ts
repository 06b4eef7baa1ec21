import type { WhenOver } from "../support/folder.ts";

/** What a case opened is closed when the case is over, for many of them share one test. */
export async function inScope<T>(work: (whenOver: WhenOver) => Promise<T>): Promise<T> {
  const steps: (() => void | Promise<void>)[] = [];
  try {
    return await work((step) => void steps.unshift(step));
  } finally {
    // Whatever one of them meets, the others are due; one may bring about another.
    for (let step = steps.shift(); step; step = steps.shift()) await attempt(step);
  }
}

async function attempt(step: () => void | Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    process.stderr.write(`could not be cleaned up: ${error}\n`);
  }
}
