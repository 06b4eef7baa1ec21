import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

/** A few samples of everything: shows that it all works, and nothing about speed. */
export const isQuick = process.argv.includes("--quick");

/** How many of so many are taken. */
export const samples = (wanted) => (isQuick ? Math.min(wanted, 2) : wanted);

/**
 * Times of ours and of the bare thing, taken in turns so that a busy moment of the machine hits all
 * of them, and each time another one first. Each is a function that returns its time in
 * milliseconds; the first round only warms up.
 */
export async function inTurns(rounds, works) {
  const names = Object.keys(works);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round <= samples(rounds); round += 1) {
    for (const index of names.keys()) {
      const name = names[(index + round) % names.length];
      const time = await works[name]();
      if (round > 0) times[name].push(time);
    }
  }
  return times;
}

/**
 * For what goes through a fleet. When a job is over the fleet makes its next spare, which keeps a
 * processor busy for a moment, and a sample taken then, ours or bare, would measure that. So each
 * begins when the spare is up and the machine is quiet.
 */
export function atRest(measure, milliseconds = 1_800) {
  return async () => {
    await pause(milliseconds);
    return measure();
  };
}

/** The milliseconds that some work takes. */
export async function timeOf(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** As on a stage: what this machine sets for Node, such as more certificates, would burden one side only. */
const plain = { PATH: process.env.PATH, HOME: process.env.HOME };

/** A Node that does nothing, until it is killed. */
export function startIdleNode() {
  return spawn(process.execPath, ["-e", "setInterval(() => {}, 2 ** 30)"], { env: plain });
}

/** Wall-clock time of a program from its start to its end, and what it printed. */
export async function timeProgram(args) {
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    env: plain,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let stdout = "";
  child.stdout.on("data", (data) => (stdout += data));
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`node ${args.join(" ")} ended with ${code}`);
  return { milliseconds: performance.now() - began, stdout };
}

/** As `node -e 0` takes: what every program on Node pays. */
export const bareNode = async () => (await timeProgram(["-e", "0"])).milliseconds;

/** The value that a share of all samples does not exceed. */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
