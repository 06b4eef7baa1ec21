import type { FleetStatus, Job } from "@herdctl/core";
import type { RehearsalOptions } from "@herdctl/rehearsal";
import { onTestFinished } from "vitest";
import { type FleetStage, fleetStage } from "./fleet-stage.ts";

export interface RunningFleet extends FleetStage {
  pid: number;
  json<T>(...args: string[]): Promise<T>;
  status(): Promise<FleetStatus>;
  /** Without waiting for its end: the job's id. */
  give(...args: string[]): Promise<string>;
  job(id: string): Promise<Job>;
}

/** A fleet in the background, stopped at once when the test is over. */
export async function runningFleet(script?: RehearsalOptions["script"]): Promise<RunningFleet> {
  const on = await fleetStage(script);
  const started = await on.run("start", "--detach", "--json");
  if (started.code !== 0) throw new Error(started.stdout + started.stderr);
  onTestFinished(async () => {
    await on.run("stop", "--now");
  });
  const json = async <T>(...args: string[]): Promise<T> => {
    const { stdout, stderr } = await on.run(...args, "--json");
    if (stdout === "") throw new Error(stderr);
    return JSON.parse(stdout);
  };
  return {
    ...on,
    pid: JSON.parse(started.stdout).pid,
    json,
    status: () => json("status"),
    give: async (...args) => (await json<Job>("trigger", ...args)).id,
    job: (id) => json("job", id),
  };
}

/** A script in which every prompt has the agent run this command first. */
export function working(command: string) {
  return {
    rules: [{ replies: [{ tools: [{ name: "Bash", input: { command } }] }, "Over."] }],
  };
}
