// One job in a container, compared with the same job on the host.
import { spawn } from "node:child_process";
import { chownSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { FleetManager } from "@herdctl/core/internal";
import { bundledClaude, createRehearsedFleet } from "./bench-fleet.mjs";
import { alternate, rested, timeOfJob } from "./measure.mjs";

const restMs = 3_000;

const fleetFile = `version: 1
fleet: { name: bench }
claude_path: ${bundledClaude()}
defaults: { working_directory: ./work, runtime: cli, permission_mode: bypassPermissions, default_prompt: hello }
agents:
  - { name: host }
  - { name: contained, docker: { enabled: true } }
`;

export async function dockerJob() {
  const engine = await startEngine();
  const stage = await createRehearsedFleet({ fleetFile });
  const workspace = join(stage.folder, "work");
  mkdirSync(workspace);
  chownSync(workspace, 1000, 1000);
  const env = { ...stage.env, DOCKER_HOST: engine.dockerHost };
  const fleet = new FleetManager({ file: join(stage.folder, "herdctl.yaml"), env });
  try {
    await fleet.start();
    const { contained, host } = await alternate(10, {
      contained: rested(() => timeOfJob(fleet, "contained"), restMs),
      host: rested(() => timeOfJob(fleet, "host"), restMs),
    });
    return {
      name: "job in a Docker container",
      values: contained,
      baseline: { name: "the same job on the host", values: host },
      bound: { added: 350 },
    };
  } finally {
    await fleet.stop({ drainMs: 0 });
    await stage.dispose();
    await engine.stop();
  }
}

async function startEngine() {
  const program = resolve(import.meta.dirname, "../scripts/docker-engine.mjs");
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise((resolve) => child.once("close", resolve));
  const line = await new Promise((resolve) => {
    createInterface({ input: child.stdout }).once("line", resolve);
  });
  const stop = async () => {
    child.stdin.end();
    await exited;
  };
  return { dockerHost: JSON.parse(line).dockerHost, stop };
}
