// What we add to one turn of claude: the whole command, from typing it to its end.
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { inTurns } from "./measure.mjs";
import { bundledClaude, rehearsedFleet } from "./stage.mjs";

const herdctl = resolve(import.meta.dirname, "../packages/cli/dist/herdctl.mjs");

export async function trigger() {
  const stage = await rehearsedFleet();
  try {
    const times = await inTurns(12, {
      ours: () => timed(process.execPath, [herdctl, "trigger", "hello", "--wait", "--json"], stage),
      bare: () => timed(bundledClaude(), ["-p", "hello", "--setting-sources", "user"], stage),
    });
    return { what: "herdctl trigger --wait", bareThing: "claude -p", ...times };
  } finally {
    await stage.dispose();
  }
}

export function timed(program, args, { env, folder }) {
  const began = performance.now();
  const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => {
      if (code === 0) done(performance.now() - began);
      else fail(new Error(`${program} ${args.join(" ")} ended with ${code}`));
    });
  });
}
