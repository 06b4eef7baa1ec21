import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

/**
 * Times of ours and of the bare thing, taken in turns so that a busy moment of the machine hits
 * both. Each is a function that returns its time in milliseconds; the first round only warms up.
 */
export async function inTurns(rounds, { ours, bare }) {
  const times = { ours: [], bare: [] };
  for (let round = 0; round <= rounds; round += 1) {
    const pair = { bare: await bare(), ours: await ours() };
    if (round === 0) continue;
    times.bare.push(pair.bare);
    times.ours.push(pair.ours);
  }
  return times;
}

/**
 * For what goes through a fleet. When a job is over the fleet makes its next spare, which keeps a
 * processor busy for a moment, and a sample taken then, ours or bare, would measure that. So each
 * begins when the spare is up and the machine is quiet.
 */
export function atRest(measure) {
  return async () => {
    await pause(1_200);
    return measure();
  };
}

/** Wall-clock time of a program from its start to its end, and what it printed. */
export async function timeProgram(args) {
  const began = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let stdout = "";
  child.stdout.on("data", (data) => (stdout += data));
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`node ${args.join(" ")} ended with ${code}`);
  return { milliseconds: performance.now() - began, stdout };
}

/** The value that a share of all samples does not exceed. */
export function quantile(samples, share) {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
