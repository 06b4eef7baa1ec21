import { setTimeout as delay } from "node:timers/promises";
import { isAlive } from "@herdctl/core/internal";
import type { Job } from "@herdctl/protocol";
import type { Script } from "@herdctl/rehearsal";
import type { ObservedRun } from "../invariants/observed-run.ts";
import {
  type FleetProcess,
  launchFleetProcess,
  startFleetProcess,
} from "../support/fleet-child-process.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import type { SeededRandom } from "./seeded-random.ts";

export interface ProcessKillPlan {
  random: SeededRandom;
  agents: number;
  /** How many agents work concurrently. */
  maxConcurrentJobs: number;
  /** How many jobs are triggered before the first kill. */
  jobs: number;
  /** The maximum number of jobs added with each kill. */
  maxJobsPerKill: number;
  rounds: number;
  /** No kill after this many milliseconds. */
  maxDurationMs: number;
}

export interface ProcessKillRun extends ObservedRun {
  kills: Record<KillTarget, number>;
}

/** The process to kill. `recovering` is a fleet that has just started to recover. */
type KillTarget = "fleet" | "runner" | "both" | "recovering";
const killTargets: [KillTarget, ...KillTarget[]] = ["fleet", "runner", "both", "recovering"];

/** Triggers jobs while fleet and runners are killed at random, then waits until all jobs end. */
export async function runProcessKills(plan: ProcessKillPlan): Promise<ProcessKillRun> {
  const harness = await startHarness({ script, maxEntries: 100_000 });
  const file = writeFleetFile(
    harness,
    agentsYaml(plan),
    `max_concurrent: ${plan.maxConcurrentJobs}`,
  );
  const killer = new ProcessKiller(harness, file, plan);
  await killer.run();
  return { harness, file, accepted: killer.accepted, kills: killer.kills };
}

/** The task writes one line to a file. A resumed task first checks whether the line is there. */
const taskCommand = 'echo "$HERDCTL_JOB" >> effects; sleep 0.3';
const resumeCommand = `grep -qx "$HERDCTL_JOB" effects || ${taskCommand}`;
/** By then the prompt is in the transcript, so that a resumed session knows it. */
const firstReplyDelay = { first: "200ms" };
const script: Script = {
  rules: [
    {
      match: { prompt: "was interrupted" },
      replies: [bashReply(resumeCommand), "It is done now."],
    },
    {
      replies: [
        { ...bashReply(taskCommand), delay: firstReplyDelay },
        bashReply("sleep 0.2"),
        "Done.",
      ],
    },
  ],
};

function bashReply(command: string) {
  return { tools: [{ name: "Bash", input: { command } }] };
}

function agentsYaml({ agents, maxConcurrentJobs }: ProcessKillPlan): string {
  const each = Math.ceil((2 * maxConcurrentJobs) / agents);
  const retry = "retry: { max_attempts: 99, backoff: 100ms }";
  return Array.from({ length: agents }, (_, index) => {
    const runtime = index % 2 === 0 ? "cli" : "sdk";
    return `  - { name: a${index}, runtime: ${runtime}, max_concurrent: ${each}, ${retry} }`;
  }).join("\n");
}

class ProcessKiller {
  readonly accepted = new Map<string, string>();
  readonly kills: ProcessKillRun["kills"] = { fleet: 0, runner: 0, both: 0, recovering: 0 };
  private fleet: FleetProcess | undefined;
  private triggeredCount = 0;

  constructor(
    private readonly harness: TestHarness,
    private readonly file: string,
    private readonly plan: ProcessKillPlan,
  ) {}

  async run(): Promise<void> {
    const { random, jobs, maxJobsPerKill, rounds, maxDurationMs } = this.plan;
    const deadline = Date.now() + maxDurationMs;
    this.fleet = await startFleetProcess(this.harness, this.file);
    await this.trigger(jobs);
    for (let round = 0; round < rounds && Date.now() < deadline; round += 1) {
      await delay(random.between(100, 1_500));
      // A kill may interrupt a trigger, so it is repeated until it is acknowledged.
      const triggered = this.trigger(random.between(0, maxJobsPerKill));
      await this.kill(random.pick(killTargets));
      await triggered;
    }
    const { control, stop } = this.fleet;
    await Promise.all([...this.accepted.values()].map((id) => control.jobs.wait(id)));
    await stop();
  }

  private async trigger(count: number): Promise<void> {
    const keys = Array.from({ length: count }, () => `key-${++this.triggeredCount}`);
    await Promise.all(keys.map((key) => this.triggerUntilAcknowledged(key)));
  }

  private async triggerUntilAcknowledged(key: string): Promise<void> {
    const agent = `a${this.plan.random.between(0, this.plan.agents - 1)}`;
    for (;;) {
      try {
        const request = { agent, prompt: `Do ${key}.`, key };
        const admission = await this.fleet?.control.jobs.trigger(request);
        if (admission) return void this.accepted.set(key, admission.job.id);
      } catch {
        // It is unknown whether the trigger was accepted; the key makes the repetition safe.
      }
      await delay(20);
    }
  }

  private async kill(kind: KillTarget): Promise<void> {
    const runners = kind === "runner" || kind === "both" ? await this.pickRunners() : [];
    if (kind !== "runner") await this.fleet?.kill();
    for (const runner of runners) if (isAlive(runner)) process.kill(runner.pid, "SIGKILL");
    if (kind === "recovering") {
      const startingFleet = launchFleetProcess(this.harness, this.file);
      await delay(this.plan.random.between(100, 900));
      await startingFleet.kill();
    }
    if (kind !== "runner") this.fleet = await startFleetProcess(this.harness, this.file);
    if (kind !== "runner" || runners.length > 0) this.kills[kind] += 1;
  }

  private async pickRunners(): Promise<NonNullable<Job["runner"]>[]> {
    const running = await this.fleet?.control.jobs.list({ status: "running", limit: 100 });
    const runners = (running?.jobs ?? []).flatMap(({ runner }) => (runner ? [runner] : []));
    return this.plan.random.some(runners);
  }
}
