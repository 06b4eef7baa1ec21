import { isAlive, type Job } from "@herdctl/core";
import type { Story } from "../oracle/story.ts";
import type { OwnEngine } from "../support/engine.ts";
import { type FleetProgram, fleetProgram, until } from "../support/fleet-program.ts";
import type { WhenOver } from "../support/folder.ts";
import type { smallState } from "../support/small-state.ts";
import type { Stage } from "../support/stage.ts";
import type { OtherClock } from "./other-clock.ts";

/** A fleet, and all that can be done to it, as the commands of a random run see it. */
export class FleetUnderTest {
  readonly accepted = new Map<string, string>();
  private fleet: FleetProgram | undefined;

  constructor(
    readonly on: Stage,
    readonly file: string,
    readonly disk: ReturnType<typeof smallState>,
    readonly clock: OtherClock,
    readonly engine: OwnEngine | undefined,
    private readonly whenOver: WhenOver,
  ) {}

  get story(): Story {
    const { on, file, accepted, engine, clock } = this;
    return { on, file, accepted, engine, mayEnd, truly: (time) => clock.truly(time) };
  }

  get running(): FleetProgram {
    if (this.fleet) return this.fleet;
    throw new Error("no fleet runs");
  }

  async start(): Promise<void> {
    this.fleet = await fleetProgram(this.on, this.file, this.whenOver);
  }

  async kill(withRunners: boolean): Promise<void> {
    const runners = withRunners ? await this.runners() : [];
    await this.running.kill();
    this.fleet = undefined;
    for (const runner of runners) if (isAlive(runner)) process.kill(runner.pid, "SIGKILL");
  }

  suspend(how: "SIGSTOP" | "SIGCONT"): void {
    process.kill(this.running.pid, how);
  }

  /** True when it was taken; the same key must give the same job. */
  async trigger(key: string, agent: string): Promise<boolean> {
    const request = { trigger: "manual" as const, agent, prompt: `Do ${key}.`, key };
    const admission = await this.running.control.trigger(request).catch(() => undefined);
    if (!admission) return false;
    const before = this.accepted.get(key) ?? admission.job.id;
    if (before !== admission.job.id) throw new Error(`${key} is ${before} and ${admission.job.id}`);
    this.accepted.set(key, before);
    return true;
  }

  /** Jobs that the schedule made, by their keys: each due time at most one. */
  async takeScheduled(): Promise<void> {
    const { jobs } = await this.running.control.jobs({ agent: "clock", limit: 1000 });
    for (const { id, idempotency_key } of jobs) this.accepted.set(idempotency_key ?? id, id);
  }

  async allEnded(): Promise<Job[]> {
    const ids = [...this.accepted.values()];
    return until(
      "the end of all jobs",
      async () => {
        const jobs = await Promise.all(ids.map((id) => this.running.control.job(id)));
        const over = jobs.flatMap((found) => (found?.job.finished_at ? [found.job] : []));
        return over.length === ids.length && over;
      },
      240_000,
    );
  }

  async stop(): Promise<void> {
    await this.running.stop();
    this.fleet = undefined;
  }

  private async runners(): Promise<NonNullable<Job["runner"]>[]> {
    const { jobs } = await this.running.control.jobs({ status: "running", limit: 100 });
    return jobs.flatMap(({ runner }) => (runner ? [runner] : []));
  }
}

/** Some are cancelled; and a due time that comes while the last one's job lasts is passed over. */
function mayEnd({ status, schedule, outcome }: Job): boolean {
  return status === "cancelled" || (schedule !== null && outcome?.code === "overlap");
}
