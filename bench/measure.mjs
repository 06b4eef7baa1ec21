import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

/** With `--quick` every measurement takes two samples: enough to show that it runs, not how fast. */
export const isQuick = process.argv.includes("--quick");

export const samples = (wanted) => (isQuick ? Math.min(wanted, 2) : wanted);

/**
 * Samples of several functions, each of which returns one value. Every round calls all of them, so
 * that a busy moment of the machine hits all, and starts with a different one. The first round
 * warms up and is not counted.
 */
export async function alternate(rounds, functions) {
  const names = Object.keys(functions);
  const values = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round <= samples(rounds); round += 1) {
    for (const index of names.keys()) {
      const name = names[(index + round) % names.length];
      const value = await functions[name]();
      if (round > 0) values[name].push(value);
    }
  }
  return values;
}

/**
 * Waits before each sample: after a job the fleet starts the next idle runner, and the processor
 * time of that start would count as part of the sample.
 */
export function rested(measure, restMs = 1_800) {
  return async () => {
    await pause(restMs);
    return measure();
  };
}

/** Milliseconds until the promise of `work` settles. */
export async function timeOf(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Milliseconds from the start of a program to its exit. */
export function timeOfProgram(program, args, { env, folder }) {
  return timeOf(() => {
    const child = spawn(program, args, {
      cwd: folder,
      env,
      stdio: ["ignore", "ignore", "inherit"],
    });
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => {
        if (code === 0) resolve();
        else reject(new Error(`${program} ${args.join(" ")} exited with code ${code}`));
      });
    });
  });
}

/** Milliseconds from the request to the recorded outcome of one job. */
export function timeOfJob(fleet, agent) {
  return timeOf(async () => {
    const { job } = await fleet.jobs.trigger({ agent });
    const { status } = await fleet.jobs.wait(job.id);
    if (status !== "completed") throw new Error(`the job ended as ${status}`);
  });
}

/** The smallest value that at least this share of the values does not exceed. */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
