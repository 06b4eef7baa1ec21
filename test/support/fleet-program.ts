import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import type { FleetControl, Job } from "@herdctl/core";
import { connectFleet } from "@herdctl/server/client";
import { onTestFinished } from "vitest";
import type { WhenOver } from "./folder.ts";
import { endIfFailed } from "./leftovers.ts";
import type { Stage } from "./stage.ts";

const program = resolve(import.meta.dirname, "../../bin/herdctl");

export interface FleetProgram {
  pid: number;
  control: FleetControl;
  exited: Promise<number | null>;
  said(): string;
  /** As the kernel or an impatient person would: nothing of it can say goodbye. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** `herdctl start` as a process of its own, ready to be asked; ended when the test is over. */
export async function fleetProgram(
  on: Pick<Stage, "env"> & { flags?: string[] },
  file: string,
  whenOver: WhenOver = onTestFinished,
): Promise<FleetProgram> {
  const launched = launchFleet(on, file, whenOver);
  const socket = join(dirname(file), ".herdctl/herdctl.sock");
  const control = await connected(socket, launched.child, launched.said).catch(async (error) => {
    await launched.kill();
    throw error;
  });
  const stop = async () => {
    await control.shutdown({ drainMs: 0 }).catch(() => undefined);
    await launched.exited;
  };
  return { ...launched, pid: launched.child.pid ?? 0, control, stop };
}

interface LaunchedFleet extends Pick<FleetProgram, "exited" | "kill" | "said"> {
  child: ChildProcess;
}

/** The same, without waiting until it answers. */
export function launchFleet(
  on: Pick<Stage, "env"> & { flags?: string[] },
  file: string,
  whenOver: WhenOver = onTestFinished,
): LaunchedFleet {
  const env = { ...on.env, CLAUDE_CODE_MAX_RETRIES: "1" };
  const child = spawn(program, ["start", "--config", file, ...(on.flags ?? [])], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text) => {
      said += text;
    });
  }
  const exited = new Promise<number | null>((done) => child.once("close", done));
  const kill = async () => {
    if (!isOver(child)) child.kill("SIGKILL");
    await exited;
  };
  whenOver(async (over) => {
    await kill();
    await endIfFailed(over, on.env.HOME ?? dirname(file));
  });
  return { child, exited, kill, said: () => said };
}

async function connected(
  socket: string,
  child: ChildProcess,
  said: () => string,
): Promise<FleetControl> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline && !isOver(child)) {
    const control = await connectFleet(socket).catch(() => undefined);
    const isOurs = (await control?.status().catch(() => undefined))?.fleet.pid === child.pid;
    if (control && isOurs) return control;
    await new Promise((done) => setTimeout(done, 30));
  }
  throw new Error(`the fleet did not come up:\n${said()}`);
}

function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Resolves when the condition holds; fails when it does not in time. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  within = 20_000,
): Promise<T> {
  const deadline = Date.now() + within;
  while (Date.now() < deadline) {
    const found = await look();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 30));
  }
  throw new Error(`it did not happen in time: ${what}`);
}

export async function jobNow(control: FleetControl, id: string): Promise<Job> {
  const found = await control.job(id);
  if (!found) throw new Error(`there is no job ${id}`);
  return found.job;
}
