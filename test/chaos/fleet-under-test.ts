import { isAlive } from "@herdctl/core/internal";
import type { Job } from "@herdctl/protocol";
import type { ObservedRun } from "../invariants/observed-run.ts";
import type { PrivateEngine } from "../support/docker-engine.ts";
import { type FleetProcess, startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import type { TestHarness } from "../support/harness.ts";
import type { mountSmallStateDir } from "../support/small-state-disk.ts";
import type { RegisterCleanup } from "../support/temp-folder.ts";
import type { ShiftedClock } from "./shifted-clock.ts";

/** A fleet and the operations that the commands of a random run apply to it. */
export class FleetUnderTest {
  readonly accepted = new Map<string, string>();
  private fleet: FleetProcess | undefined;

  constructor(
    readonly harness: TestHarness,
    readonly file: string,
    readonly disk: ReturnType<typeof mountSmallStateDir>,
    readonly clock: ShiftedClock,
    readonly engine: PrivateEngine | undefined,
    private readonly onCleanup: RegisterCleanup,
  ) {}

  get observedRun(): ObservedRun {
    const { harness, file, accepted, engine, clock } = this;
    return {
      harness,
      file,
      accepted,
      engine,
      isAcceptedEnd,
      toModelTime: (time) => clock.toRealTime(time),
    };
  }

  get running(): FleetProcess {
    if (this.fleet) return this.fleet;
    throw new Error("no fleet runs");
  }

  async start(): Promise<void> {
    this.fleet = await startFleetProcess(this.harness, this.file, this.onCleanup);
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

  /** Returns true when it was accepted; the same key must give the same job. */
  async trigger(key: string, agent: string): Promise<boolean> {
    const request = { agent, prompt: `Do ${key}.`, key };
    const admission = await this.running.control.jobs.trigger(request).catch(() => undefined);
    if (!admission) return false;
    const before = this.accepted.get(key) ?? admission.job.id;
    if (before !== admission.job.id) throw new Error(`${key} is ${before} and ${admission.job.id}`);
    this.accepted.set(key, before);
    return true;
  }

  /** Records the jobs of the schedule by key: at most one per due time. */
  async recordScheduledJobs(): Promise<void> {
    const { jobs } = await this.running.control.jobs.list({ agent: "clock", limit: 1000 });
    for (const { id, idempotency_key } of jobs) this.accepted.set(idempotency_key ?? id, id);
  }

  async waitUntilAllEnded(): Promise<Job[]> {
    const ids = [...this.accepted.values()];
    return waitUntil(
      "the end of all jobs",
      async () => {
        const jobs = await Promise.all(ids.map((id) => this.running.control.jobs.get(id)));
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
    const { jobs } = await this.running.control.jobs.list({ status: "running", limit: 100 });
    return jobs.flatMap(({ runner }) => (runner ? [runner] : []));
  }
}

/** Some jobs are cancelled, and a due time during the previous job is recorded as an overlap. */
function isAcceptedEnd({ status, schedule, outcome }: Job): boolean {
  return status === "cancelled" || (schedule !== null && outcome?.code === "overlap");
}
