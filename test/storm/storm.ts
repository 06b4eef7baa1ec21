import { setTimeout as delay } from "node:timers/promises";
import { isAlive, type Job } from "@herdctl/core";
import type { Script } from "@herdctl/rehearsal";
import type { Story } from "../oracle/story.ts";
import { fleetFile } from "../support/fleet-process.ts";
import { type FleetProgram, fleetProgram, launchFleet } from "../support/fleet-program.ts";
import { type Stage, stage } from "../support/stage.ts";
import type { Random } from "./random.ts";

export interface StormPlan {
  random: Random;
  agents: number;
  /** How many agents work at once. */
  atOnce: number;
  /** As many are triggered before the first kill. */
  jobs: number;
  /** At most so many more with each kill. */
  more: number;
  rounds: number;
  /** No kill after this, in milliseconds. */
  longest: number;
}

export interface StormStory extends Story {
  kills: Record<Kind, number>;
}

/** Who is killed. `recovering` is a fleet that has just begun to take over what another left. */
type Kind = "fleet" | "runner" | "both" | "recovering";
const kinds: [Kind, ...Kind[]] = ["fleet", "runner", "both", "recovering"];

/** Jobs are triggered and work while fleet and runners are killed at random; then all come to their end. */
export async function storm(plan: StormPlan): Promise<StormStory> {
  const on = await stage({ script: model, keepEntries: 100_000 });
  const file = fleetFile(on, agentsOf(plan), `max_concurrent: ${plan.atOnce}`);
  const weather = new Weather(on, file, plan);
  await weather.rage();
  return { on, file, accepted: weather.accepted, kills: weather.kills };
}

/** What a task does shows in one line of a file. Whoever goes on looks first whether that is done. */
const task = 'echo "$HERDCTL_JOB" >> effects; sleep 0.3';
const rest = `grep -qx "$HERDCTL_JOB" effects || ${task}`;
/** The prompt is in the transcript by then: no earlier answer can be forgotten. */
const untilWritten = { first: "200ms" };
const model: Script = {
  rules: [
    { match: { prompt: "was interrupted" }, replies: [bash(rest), "It is done now."] },
    { replies: [{ ...bash(task), delay: untilWritten }, bash("sleep 0.2"), "Done."] },
  ],
};

function bash(command: string) {
  return { tools: [{ name: "Bash", input: { command } }] };
}

function agentsOf({ agents, atOnce }: StormPlan): string {
  const each = Math.ceil((2 * atOnce) / agents);
  const retry = "retry: { max_attempts: 99, backoff: 100ms }";
  return Array.from({ length: agents }, (_, index) => {
    const runtime = index % 2 === 0 ? "cli" : "sdk";
    return `  - { name: a${index}, runtime: ${runtime}, max_concurrent: ${each}, ${retry} }`;
  }).join("\n");
}

class Weather {
  readonly accepted = new Map<string, string>();
  readonly kills: StormStory["kills"] = { fleet: 0, runner: 0, both: 0, recovering: 0 };
  private fleet: FleetProgram | undefined;
  private given = 0;

  constructor(
    private readonly on: Stage,
    private readonly file: string,
    private readonly plan: StormPlan,
  ) {}

  async rage(): Promise<void> {
    const { random, jobs, more, rounds, longest } = this.plan;
    const deadline = Date.now() + longest;
    this.fleet = await fleetProgram(this.on, this.file);
    await this.trigger(jobs);
    for (let round = 0; round < rounds && Date.now() < deadline; round += 1) {
      await delay(random.between(100, 1_500));
      // A trigger may meet the kill: it is sent until it is acknowledged.
      const triggered = this.trigger(random.between(0, more));
      await this.kill(random.pick(kinds));
      await triggered;
    }
    const { control, stop } = this.fleet;
    await Promise.all([...this.accepted.values()].map((id) => control.wait(id)));
    await stop();
  }

  private async trigger(count: number): Promise<void> {
    const keys = Array.from({ length: count }, () => `key-${++this.given}`);
    await Promise.all(keys.map((key) => this.untilAcknowledged(key)));
  }

  private async untilAcknowledged(key: string): Promise<void> {
    const agent = `a${this.plan.random.between(0, this.plan.agents - 1)}`;
    for (;;) {
      try {
        const request = { trigger: "manual" as const, agent, prompt: `Do ${key}.`, key };
        const admission = await this.fleet?.control.trigger(request);
        if (admission) return void this.accepted.set(key, admission.job.id);
      } catch {
        // Whether it had been accepted is not known: the key will tell.
      }
      await delay(20);
    }
  }

  private async kill(kind: Kind): Promise<void> {
    const runners = kind === "runner" || kind === "both" ? await this.someRunners() : [];
    if (kind !== "runner") await this.fleet?.kill();
    for (const runner of runners) if (isAlive(runner)) process.kill(runner.pid, "SIGKILL");
    if (kind === "recovering") {
      const early = launchFleet(this.on, this.file);
      await delay(this.plan.random.between(100, 900));
      await early.kill();
    }
    if (kind !== "runner") this.fleet = await fleetProgram(this.on, this.file);
    if (kind !== "runner" || runners.length > 0) this.kills[kind] += 1;
  }

  private async someRunners(): Promise<NonNullable<Job["runner"]>[]> {
    const running = await this.fleet?.control.jobs({ status: "running", limit: 100 });
    const runners = (running?.jobs ?? []).flatMap(({ runner }) => (runner ? [runner] : []));
    return this.plan.random.some(runners);
  }
}
