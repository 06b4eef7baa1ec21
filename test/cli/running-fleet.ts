import { spawn } from "node:child_process";
import { join } from "node:path";
import type { FleetControl, Job } from "@herdctl/protocol";
import { connectFleet } from "@herdctl/protocol/client";
import type { RehearsalOptions } from "@herdctl/rehearsal";
import { onTestFinished } from "vitest";
import { type CliHarness, startCliHarness, waitUntil } from "./cli-harness.ts";
import { program, waitForExit } from "./run-herdctl.ts";

export interface RunningFleet extends CliHarness {
  pid: number;
  json<T>(...args: string[]): Promise<T>;
  /** Asks the fleet over its socket, which is faster than a command. */
  withControl<T>(use: (fleet: FleetControl) => Promise<T>): Promise<T>;
  /** Returns the job's id without waiting for the job. */
  triggerJob(agent: string, prompt: string): Promise<string>;
  job(id: string): Promise<Job>;
  waitForJob(id: string): Promise<Job>;
  waitUntilRunning(count: number): Promise<unknown>;
}

/** Starts a fleet in the background and stops it at the end of the test. */
export async function startRunningFleet(
  script?: RehearsalOptions["script"],
): Promise<RunningFleet> {
  const harness = await startCliHarness(script);
  stopAfterTest(harness);
  const started = await harness.run("start", "--detach", "--json");
  if (started.code !== 0) throw new Error(started.stdout + started.stderr);
  return { ...harness, ...fleetQueries(harness), pid: JSON.parse(started.stdout).pid };
}

export function stopAfterTest({ folder, env }: CliHarness): void {
  onTestFinished(async () => {
    await waitForExit(spawn(program, ["stop", "--now"], { cwd: folder, env }));
  });
}

export function fleetQueries(harness: CliHarness): Omit<RunningFleet, keyof CliHarness | "pid"> {
  const withControl: RunningFleet["withControl"] = async (use) => {
    const fleet = await connectFleet({ socketPath: join(harness.folder, ".herdctl/herdctl.sock") });
    if (!fleet) throw new Error("no fleet answers");
    try {
      return await use(fleet);
    } finally {
      fleet.close();
    }
  };
  const job = async (id: string) => {
    const found = await withControl((fleet) => fleet.jobs.get(id));
    if (!found) throw new Error(`there is no job ${id}`);
    return found.job;
  };
  return {
    withControl,
    job,
    json: async (...args) => {
      const { stdout, stderr } = await harness.run(...args, "--json");
      if (stdout === "") throw new Error(stderr);
      return JSON.parse(stdout);
    },
    triggerJob: async (agent, prompt) => {
      const { job } = await withControl((fleet) => fleet.jobs.trigger({ agent, prompt }));
      return job.id;
    },
    waitForJob: (id) => withControl((fleet) => fleet.jobs.wait(id)),
    waitUntilRunning: (count) =>
      waitUntil(async () => (await withControl((fleet) => fleet.status())).fleet.running === count),
  };
}

/** A script in which the agent runs this command first for every prompt. */
export function bashScript(command: string) {
  return {
    rules: [{ replies: [{ tools: [{ name: "Bash", input: { command } }] }, "Over."] }],
  };
}

export const longRunningScript = bashScript("for i in $(seq 600); do sleep 0.1; done");
