// One job in a container, beside the same job elsewhere, both through a fleet in this process.
import { spawn } from "node:child_process";
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { FleetManager } from "@herdctl/core";
import { inTurns } from "./measure.mjs";
import { bundledClaude, rehearsedFleet } from "./stage.mjs";

const rounds = 15;

const onHost = { bareThing: "the same job on the host", bare: "" };

export const dockerCold = () =>
  inDocker({
    what: "job in a container",
    ...onHost,
    ours: inside(),
    pause: 0,
    bound: { more: 350 },
  });

/** The pause lets the fleet make the next spare, as it would between two jobs, and beside neither. */
export const dockerWarm = () =>
  inDocker({
    what: "job in a spare container",
    ...onHost,
    ours: inside(", warm: true"),
    pause: 3_000,
    bound: { more: 60 },
  });

export const dockerAhead = () =>
  inDocker({
    what: "job in a container, `warm: 1`",
    bareThing: "the same job without `warm`",
    ours: `${inside()}, warm: 1`,
    bare: inside(),
    pause: 4_000,
    bound: { ratio: 0.7 },
  });

function inside(more = "") {
  return `, docker: { enabled: true${more} }`;
}

async function inDocker({ what, bareThing, ours, bare, pause, bound }) {
  const engine = spawn(process.execPath, [resolve(import.meta.dirname, "../scripts/engine.mjs")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const gone = new Promise((done) => engine.once("close", done));
  const stage = await rehearsedFleet();
  const [line] = await new Promise((found) => {
    createInterface({ input: engine.stdout }).once("line", (text) => found([text]));
  });
  const env = { ...stage.env, DOCKER_HOST: JSON.parse(line).dockerHost };
  const fleet = new FleetManager({ file: writeFleet(stage, ours, bare), env });
  try {
    await fleet.start();
    const times = await inTurns(rounds, {
      ours: after(pause, () => oneJob(fleet, "ours")),
      bare: after(pause, () => oneJob(fleet, "bare")),
    });
    return { what, bareThing, ...times, bound };
  } finally {
    await fleet.stop({ drainMs: 0 });
    await stage.dispose();
    engine.stdin.end();
    await gone;
  }
}

function after(pause, job) {
  return async () => {
    await delay(pause);
    return await job();
  };
}

function writeFleet({ folder }, ours, bare) {
  const workspace = join(folder, "work");
  mkdirSync(workspace);
  chownSync(workspace, 1000, 1000);
  const file = join(folder, "herdctl.yaml");
  const agent = "runtime: cli, permission_mode: bypassPermissions, default_prompt: hello";
  writeFileSync(
    file,
    `version: 1
fleet: { name: bench }
claude_path: ${bundledClaude()}
defaults: { working_directory: ./work }
agents:
  - { name: bare, ${agent}${bare} }
  - { name: ours, ${agent}${ours} }
`,
  );
  return file;
}

async function oneJob(fleet, agent) {
  const began = performance.now();
  const { job } = await fleet.trigger({ trigger: "manual", agent });
  const { status, outcome } = await fleet.wait(job.id);
  if (status !== "completed") throw new Error(`the job ended as ${outcome?.code}`);
  return performance.now() - began;
}
