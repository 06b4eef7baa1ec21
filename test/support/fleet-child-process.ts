import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import type { FleetControl, Job } from "@herdctl/protocol";
import { connectFleet } from "@herdctl/protocol/client";
import { onTestFinished } from "vitest";
import { killLeftoversIfFailed } from "./cleanup-after-failure.ts";
import type { TestHarness } from "./harness.ts";
import type { RegisterCleanup } from "./temp-folder.ts";

const program = resolve(import.meta.dirname, "../../bin/herdctl");

export interface FleetProcess {
  pid: number;
  control: FleetControl;
  exited: Promise<number | null>;
  output(): string;
  /** Kills the process without a chance to clean up. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts `herdctl start`, waits until it answers, and ends it at the end of the test. */
export async function startFleetProcess(
  harness: Pick<TestHarness, "env"> & { flags?: string[] },
  file: string,
  onCleanup: RegisterCleanup = onTestFinished,
): Promise<FleetProcess> {
  const launched = launchFleetProcess(harness, file, onCleanup);
  const socket = join(dirname(file), ".herdctl/herdctl.sock");
  const control = await connectWhenUp(socket, launched.child, launched.output).catch(
    async (error) => {
      await launched.kill();
      throw error;
    },
  );
  const stop = async () => {
    await control.shutdown({ drainMs: 0 }).catch(() => undefined);
    await launched.exited;
  };
  return { ...launched, pid: launched.child.pid ?? 0, control, stop };
}

interface LaunchedFleetProcess extends Pick<FleetProcess, "exited" | "kill" | "output"> {
  child: ChildProcess;
}

/** The same, without waiting until it answers. */
export function launchFleetProcess(
  harness: Pick<TestHarness, "env"> & { flags?: string[] },
  file: string,
  onCleanup: RegisterCleanup = onTestFinished,
): LaunchedFleetProcess {
  const env = { ...harness.env, CLAUDE_CODE_MAX_RETRIES: "1" };
  const child = spawn(program, ["start", "--config", file, ...(harness.flags ?? [])], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text) => {
      output += text;
    });
  }
  const exited = new Promise<number | null>((done) => child.once("close", done));
  const kill = async () => {
    if (!hasExited(child)) child.kill("SIGKILL");
    await exited;
  };
  onCleanup(async (over) => {
    await kill();
    await killLeftoversIfFailed(over, harness.env.HOME ?? dirname(file));
  });
  return { child, exited, kill, output: () => output };
}

async function connectWhenUp(
  socket: string,
  child: ChildProcess,
  output: () => string,
): Promise<FleetControl> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline && !hasExited(child)) {
    const control = await connectFleet({ socketPath: socket }).catch(() => undefined);
    const isExpectedProcess =
      (await control?.status().catch(() => undefined))?.fleet.pid === child.pid;
    if (control && isExpectedProcess) return control;
    await new Promise((done) => setTimeout(done, 30));
  }
  throw new Error(`the fleet did not come up:\n${output()}`);
}

function hasExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Resolves when the condition holds; throws after a timeout. */
export async function waitUntil<T>(
  description: string,
  poll: () => Promise<T | undefined | false>,
  timeoutMs = 45_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const found = await poll();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 30));
  }
  throw new Error(`it did not happen in time: ${description}`);
}

export async function readJob(control: FleetControl, id: string): Promise<Job> {
  const found = await control.jobs.get(id);
  if (!found) throw new Error(`there is no job ${id}`);
  return found.job;
}
