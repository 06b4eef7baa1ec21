// One turn through a running fleet, from the request at its socket to the recorded outcome.
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { connectFleet } from "@herdctl/server/client";
import { inTurns } from "./measure.mjs";
import { bundledClaude, rehearsedFleet } from "./stage.mjs";
import { timed } from "./trigger.mjs";

const herdctl = resolve(import.meta.dirname, "../packages/cli/dist/herdctl.mjs");

export const fleetSocket = () =>
  throughFleet("job at the socket", 1.1, ({ control }) => viaSocket(control));

export const fleetCommand = () =>
  throughFleet("trigger --wait with a fleet", 1.3, ({ stage }) =>
    timed(process.execPath, [herdctl, "trigger", "hello", "--wait", "--json"], stage),
  );

async function throughFleet(what, ratio, ours) {
  const stage = await rehearsedFleet();
  const fleet = spawn(process.execPath, [herdctl, "start"], {
    cwd: stage.folder,
    env: stage.env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exited = new Promise((done) => fleet.once("close", done));
  try {
    const control = await reached(join(stage.folder, ".herdctl/herdctl.sock"));
    const times = await inTurns(15, {
      ours: () => ours({ stage, control }),
      bare: () => timed(bundledClaude(), ["-p", "hello", "--setting-sources", "user"], stage),
    });
    return { what, bareThing: "claude -p", ...times, bound: { ratio } };
  } finally {
    fleet.kill("SIGTERM");
    await exited;
    await stage.dispose();
  }
}

async function viaSocket(control) {
  const began = performance.now();
  const { job } = await control.trigger({ trigger: "manual", agent: "hello" });
  const { status } = await control.wait(job.id);
  if (status !== "completed") throw new Error(`the job ended as ${status}`);
  return performance.now() - began;
}

async function reached(socket) {
  for (let tries = 0; tries < 200; tries += 1) {
    const control = await connectFleet(socket).catch(() => undefined);
    if (control) return control;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error("the fleet did not come up");
}
