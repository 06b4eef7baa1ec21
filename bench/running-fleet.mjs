// A fleet process on a stage, with a client of it.
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connectFleet } from "@herdctl/server/client";

export const herdctl = resolve(import.meta.dirname, "../packages/cli/dist/herdctl.mjs");

const patience = 60_000;
const lookEvery = 5;

export async function startFleet({ folder, env, flags = [] }) {
  const began = performance.now();
  const child = spawn(process.execPath, [herdctl, "start", ...flags], {
    cwd: folder,
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exited = new Promise((done) => child.once("close", done));
  const stop = async () => {
    child.kill("SIGTERM");
    await exited;
  };
  try {
    const control = await answering(join(folder, ".herdctl/herdctl.sock"), child);
    return { control, pid: child.pid, upAfter: performance.now() - began, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function answering(socket, child) {
  const deadline = Date.now() + patience;
  while (Date.now() < deadline && child.exitCode === null) {
    // One that listens but is too busy to answer at once is on its way up.
    const control = await connectFleet(socket).catch(() => undefined);
    if (control) return control;
    await pause(lookEvery);
  }
  throw new Error("the fleet did not come up");
}
