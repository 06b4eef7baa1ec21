import type { RegisterCleanup } from "../support/temp-folder.ts";

/** Runs cleanup when a case ends, because many cases share one test. */
export async function withCleanup<T>(work: (onCleanup: RegisterCleanup) => Promise<T>): Promise<T> {
  const steps: (() => void | Promise<void>)[] = [];
  try {
    return await work((step) => void steps.unshift(step));
  } finally {
    // A failing step does not skip the others, and a step may add more steps.
    for (let step = steps.shift(); step; step = steps.shift()) await runStep(step);
  }
}

async function runStep(step: () => void | Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    process.stderr.write(`could not be cleaned up: ${error}\n`);
  }
}
