import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Job } from "@herdctl/core";
import type { RehearsalOptions } from "@herdctl/rehearsal";
import { onTestFinished } from "vitest";
import { claudeBinary } from "../support/claude.ts";
import { fleetHead } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";
import { type Stage, stage } from "../support/stage.ts";
import { endOf, herdctl, herdctlInTerminal, ownEnv, program, type Run } from "./herdctl.ts";

export interface FleetStage extends Stage {
  folder: string;
  run(...args: string[]): Promise<Run>;
  /** With `--wait --json`: the job that was printed. */
  trigger(...args: string[]): Promise<Job>;
  inTerminal(
    args: string[],
    keys?: { when: string; type: string }[],
  ): Promise<{ code: number | null; screen: string }>;
  /** Does not wait for its end; it is killed when the test is over. */
  start(...args: string[]): Started;
}

interface Started {
  child: ChildProcess;
  ended: Promise<Run>;
}

/** Four agents of every kind, which work in the stage's workspace. */
const agents = `
defaults: { working_directory: WORKSPACE, permission_mode: bypassPermissions }
agents:
  - { name: sdk, runtime: sdk, default_prompt: hello }
  - name: cli
    runtime: cli
    schedules: { nightly: { type: interval, every: 1h, prompt: the nightly prompt } }
  - { name: file, runtime: { type: cli, stream: session-file } }
  - { name: asks, runtime: cli, permission_mode: default }
`;

/** A rehearsal, a home, and a fleet that the built program is run on. */
export async function fleetStage(script: RehearsalOptions["script"] = {}): Promise<FleetStage> {
  const on = await stage({ script });
  const folder = folderWith({
    "herdctl.yaml": `${fleetHead.replace("name: test", "name: test, warm: false")}claude_path: ${claudeBinary("325")}\n${agents.replace("WORKSPACE", on.workspace)}`,
  });
  const place = { cwd: folder, env: on.env };
  const run = (...args: string[]) => herdctl(args, place);
  return {
    ...on,
    folder,
    run,
    trigger: async (...args) => {
      const { stdout, stderr } = await run("trigger", ...args, "--wait", "--json");
      if (stdout === "") throw new Error(stderr);
      return JSON.parse(stdout);
    },
    inTerminal: (args, keys = []) => herdctlInTerminal(args, { ...place, keys }),
    start: (...args) => {
      const child = spawn(program, args, { cwd: folder, env: ownEnv(on.env) });
      const ended = endOf(child);
      onTestFinished(async () => {
        child.kill("SIGKILL");
        await ended;
      });
      return { child, ended };
    },
  };
}

export interface LoggedMessage {
  type: string;
  subtype?: string;
  message?: { content?: string | { type: string }[] };
}

export function logged(job: Job): LoggedMessage[] {
  const lines = readFileSync(job.output_file, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  const deadline = Date.now() + 20_000;
  while (Date.now() < deadline) {
    const seen = await look();
    if (seen) return seen;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("it did not come to that");
}
