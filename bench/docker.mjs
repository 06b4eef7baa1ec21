// One job in a container, beside the same job on the host, all through a fleet in this process.
import { spawn } from "node:child_process";
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { FleetManager } from "@herdctl/core";
import { atRest, inTurns, timeOf } from "./measure.mjs";
import { bundledClaude, rehearsedFleet } from "./stage.mjs";

const rounds = 10;
/** In it the fleet makes the next spare container, as it would between two jobs. */
const rest = 3_000;

export async function dockerTurn() {
  const engine = spawn(process.execPath, [resolve(import.meta.dirname, "../scripts/engine.mjs")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const gone = new Promise((done) => engine.once("close", done));
  const stage = await rehearsedFleet();
  const [line] = await new Promise((found) => {
    createInterface({ input: engine.stdout }).once("line", (text) => found([text]));
  });
  const env = { ...stage.env, DOCKER_HOST: JSON.parse(line).dockerHost };
  const fleet = new FleetManager({ file: writeFleet(stage), env });
  const job = (agent) => atRest(() => oneJob(fleet, agent), rest);
  try {
    await fleet.start();
    const times = await inTurns(rounds, {
      bare: job("host"),
      cold: job("contained"),
      warm: job("spare"),
      ahead: job("ahead"),
    });
    const host = { beside: "the same job on the host", bare: times.bare };
    return [
      { what: "job in a container", ours: times.cold, ...host, bound: { more: 350 } },
      { what: "job in a spare container", ours: times.warm, ...host, bound: { more: 60 } },
      {
        what: "job in a container, `warm: 1`",
        ours: times.ahead,
        beside: "the same job without `warm`",
        bare: times.cold,
        bound: { ratio: 0.7 },
      },
    ];
  } finally {
    await fleet.stop({ drainMs: 0 });
    await stage.dispose();
    engine.stdin.end();
    await gone;
  }
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
