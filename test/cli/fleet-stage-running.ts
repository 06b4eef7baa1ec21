import { spawn } from "node:child_process";
import { join } from "node:path";
import type { FleetControl, Job } from "@herdctl/core";
import type { RehearsalOptions } from "@herdctl/rehearsal";
import { connectFleet } from "@herdctl/server/client";
import { onTestFinished } from "vitest";
import { type FleetStage, fleetStage, until } from "./fleet-stage.ts";
import { endOf, program } from "./herdctl.ts";

export interface RunningFleet extends FleetStage {
  pid: number;
  json<T>(...args: string[]): Promise<T>;
  /** Asks the fleet itself, which is quicker than a command. */
  ask<T>(question: (fleet: FleetControl) => Promise<T>): Promise<T>;
  /** The job's id; it is not waited for. */
  give(agent: string, prompt: string): Promise<string>;
  job(id: string): Promise<Job>;
  ended(id: string): Promise<Job>;
  untilRunning(count: number): Promise<unknown>;
}

/** A fleet in the background, stopped at once when the test is over. */
export async function runningFleet(script?: RehearsalOptions["script"]): Promise<RunningFleet> {
  const on = await fleetStage(script);
  stopWhenOver(on);
  const started = await on.run("start", "--detach", "--json");
  if (started.code !== 0) throw new Error(started.stdout + started.stderr);
  return { ...on, ...questions(on), pid: JSON.parse(started.stdout).pid };
}

export function stopWhenOver({ folder, env }: FleetStage): void {
  onTestFinished(async () => {
    await endOf(spawn(program, ["stop", "--now"], { cwd: folder, env }));
  });
}

export function questions(on: FleetStage): Omit<RunningFleet, keyof FleetStage | "pid"> {
  const ask: RunningFleet["ask"] = async (question) => {
    const fleet = await connectFleet(join(on.folder, ".herdctl/herdctl.sock"));
    if (!fleet) throw new Error("no fleet answers");
    try {
      return await question(fleet);
    } finally {
      fleet.close();
    }
  };
  const job = async (id: string) => {
    const found = await ask((fleet) => fleet.job(id));
    if (!found) throw new Error(`there is no job ${id}`);
    return found.job;
  };
  return {
    ask,
    job,
    json: async (...args) => {
      const { stdout, stderr } = await on.run(...args, "--json");
      if (stdout === "") throw new Error(stderr);
      return JSON.parse(stdout);
    },
    give: async (agent, prompt) => {
      const { job } = await ask((fleet) => fleet.trigger({ trigger: "manual", agent, prompt }));
      return job.id;
    },
    ended: (id) => ask((fleet) => fleet.wait(id)),
    untilRunning: (count) =>
      until(async () => (await ask((fleet) => fleet.status())).fleet.running === count),
  };
}

/** A script in which every prompt has the agent run this command first. */
export function working(command: string) {
  return {
    rules: [{ replies: [{ tools: [{ name: "Bash", input: { command } }] }, "Over."] }],
  };
}

export const longWork = working("for i in $(seq 600); do sleep 0.1; done");
