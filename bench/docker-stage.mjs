// An engine of our own, with a fleet in this process whose agents work on the host and in containers.
import { spawn } from "node:child_process";
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { FleetManager } from "@herdctl/core";
import { atRest, timeOf } from "./measure.mjs";
import { bundledClaude, rehearsedFleet } from "./stage.mjs";

/** In it the fleet makes the next spare container, as it would between two jobs. */
const rest = 3_000;

/** `addressFor` may put something between the fleet and its engine. */
export async function dockerStage(addressFor = async (dockerHost) => dockerHost) {
  const engine = spawn(process.execPath, [resolve(import.meta.dirname, "../scripts/engine.mjs")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const gone = new Promise((done) => engine.once("close", done));
  const stage = await rehearsedFleet();
  const line = await new Promise((found) => {
    createInterface({ input: engine.stdout }).once("line", found);
  });
  const address = await addressFor(JSON.parse(line).dockerHost, stage.folder);
  const env = { ...stage.env, DOCKER_HOST: address };
  const fleet = new FleetManager({ file: writeFleet(stage), env });
  const stop = async () => {
    await fleet.stop({ drainMs: 0 });
    await stage.dispose();
    engine.stdin.end();
    await gone;
  };
  try {
    await fleet.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { job: (agent) => atRest(() => oneJob(fleet, agent), rest), stop };
}

function writeFleet({ folder }) {
  const workspace = join(folder, "work");
  mkdirSync(workspace);
  chownSync(workspace, 1000, 1000);
  const file = join(folder, "herdctl.yaml");
  writeFileSync(
    file,
    `version: 1
fleet: { name: bench }
claude_path: ${bundledClaude()}
defaults: { working_directory: ./work, runtime: cli, permission_mode: bypassPermissions, default_prompt: hello }
agents:
  - { name: host }
  - { name: contained, docker: { enabled: true } }
  - { name: spare, docker: { enabled: true, warm: true } }
  - { name: ahead, docker: { enabled: true }, warm: 1 }
`,
  );
  return file;
}

function oneJob(fleet, agent) {
  return timeOf(async () => {
    const { job } = await fleet.trigger({ trigger: "manual", agent });
    const { status, outcome } = await fleet.wait(job.id);
    if (status !== "completed") throw new Error(`the job ended as ${outcome?.code}`);
  });
}
