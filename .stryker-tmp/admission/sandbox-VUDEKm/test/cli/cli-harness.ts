import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Job } from "@herdctl/protocol";
import type { RehearsalOptions } from "@herdctl/rehearsal";
import { onTestFinished } from "vitest";
import { claudeBinary } from "../support/claude-binaries.ts";
import { fleetHeader } from "../support/fleet-config.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import {
  type CommandResult,
  minimalEnv,
  program,
  runHerdctl,
  runHerdctlInTerminal,
  waitForExit,
} from "./run-herdctl.ts";

export interface CliHarness extends TestHarness {
  folder: string;
  run(...args: string[]): Promise<CommandResult>;
  /** With `--wait --json`: returns the printed job. */
  trigger(...args: string[]): Promise<Job>;
  inTerminal(
    args: string[],
    keys?: { when: string; type: string }[],
  ): Promise<{ code: number | null; screen: string }>;
  /** Returns without waiting; the command is killed at the end of the test. */
  start(...args: string[]): StartedCommand;
}

interface StartedCommand {
  child: ChildProcess;
  exited: Promise<CommandResult>;
}

/** Agents with both runtimes, with a followed session file, and with permission requests. */
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

/** Starts a rehearsal and creates a home and a fleet for the built program. */
export async function startCliHarness(
  script: RehearsalOptions["script"] = {},
): Promise<CliHarness> {
  const harness = await startHarness({ script });
  const folder = tempFolderWith({
    "herdctl.yaml": `${fleetHeader.replace("name: test", "name: test, max_keep_alive: 0")}claude_path: ${claudeBinary("325")}\n${agents.replace("WORKSPACE", harness.workspace)}`,
  });
  const spawnOptions = { cwd: folder, env: harness.env };
  const run = (...args: string[]) => runHerdctl(args, spawnOptions);
  return {
    ...harness,
    folder,
    run,
    trigger: async (...args) => {
      const { stdout, stderr } = await run("trigger", ...args, "--wait", "--json");
      if (stdout === "") throw new Error(stderr);
      return JSON.parse(stdout);
    },
    inTerminal: (args, keys = []) => runHerdctlInTerminal(args, { ...spawnOptions, keys }),
    start: (...args) => {
      const child = spawn(program, args, { cwd: folder, env: minimalEnv(harness.env) });
      const exited = waitForExit(child);
      onTestFinished(async () => {
        child.kill("SIGKILL");
        await exited;
      });
      return { child, exited };
    },
  };
}

export interface LoggedMessage {
  type: string;
  subtype?: string;
  message?: { content?: string | { type: string }[] };
}

export function readLoggedMessages(job: Job): LoggedMessage[] {
  const lines = readFileSync(job.output_file, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

export async function waitUntil<T>(poll: () => T | Promise<T>): Promise<NonNullable<T>> {
  const deadline = Date.now() + 20_000;
  while (Date.now() < deadline) {
    const result = await poll();
    if (result) return result;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("it did not come to that");
}
