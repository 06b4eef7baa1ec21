import { join } from "node:path";
import { loadFleet } from "@herdctl/config";
import type { DueTimeRecord } from "@herdctl/protocol";
import { vi } from "vitest";
import { FleetServices } from "../../packages/core/src/fleet/services.ts";
import { triggerAll } from "../../packages/core/src/jobs/admission/trigger-job.ts";
import { EventHub } from "../../packages/core/src/lib/event-hub.ts";
import { FleetProblems } from "../../packages/core/src/lib/fleet-problems.ts";
import { RunnerPool } from "../../packages/core/src/runner-pool/runner-pool.ts";
import { ScheduleClock } from "../../packages/core/src/triggers/schedules/schedule-clock.ts";

/** A fleet's real clock, queue and state with simulated time; no job is ever started. */
export class ScheduleSimulation {
  private services: FleetServices | undefined;
  private clock: ScheduleClock | undefined;
  /** Called before and after each admission; throwing kills that fleet. */
  private onStoreCall: () => void = () => undefined;
  private isDying = false;

  constructor(private readonly folder: string) {}

  async start(): Promise<void> {
    const loaded = loadFleet(join(this.folder, "herdctl.yaml"), {});
    const hub = new EventHub(() => undefined);
    const trouble = () => undefined;
    const services = await FleetServices.open({
      hub,
      problems: new FleetProblems(hub),
      loaded: () => loaded,
      runners: new RunnerPool({ size: 0 }),
      ownJobsOnly: false,
      unattended: true,
      version: "0.0.0",
      node: {},
      dashboardUrl: () => null,
      handleToolCall: async () => undefined,
      reportError: trouble,
    });
    this.services = services;
    this.isDying = false;
    this.clock = new ScheduleClock({
      services,
      readAgentSchedules: () => services.agentSchedules.reload(),
      trigger: async (candidates) => {
        this.onStoreCall();
        const admissions = await triggerAll(services, candidates);
        this.onStoreCall();
        return admissions;
      },
    });
    await this.clock.replan();
  }

  async stop(): Promise<void> {
    await this.clock?.stop();
    await this.services?.runners.stop();
    await this.services?.state.close();
    this.services?.lock.release();
  }

  /** Advances the time and runs timers. */
  async advance(by: number): Promise<void> {
    for (let left = by; left > 0; left -= maxStepMs) {
      await vi.advanceTimersByTimeAsync(Math.min(left, maxStepMs));
      await this.waitForTimers();
    }
  }

  /** Changes the clock without affecting timers. */
  setClock(by: number): void {
    vi.setSystemTime(Date.now() + by);
  }

  /** Kills the fleet after this many store calls, in the middle of its work. */
  async killAfter(storeCalls: number, by: number): Promise<void> {
    let left = storeCalls;
    this.onStoreCall = () => {
      if (this.isDying || left-- <= 0) {
        this.isDying = true;
        throw new Error("killed");
      }
    };
    await this.advance(by);
    await this.stop();
    this.onStoreCall = () => undefined;
    await this.start();
  }

  /** Ends every unfinished job. */
  async finishAllJobs(): Promise<void> {
    const { state, hub } = this.open;
    const outcome = { code: "cancelled" as const, message: "-", hint: "-" };
    for (const { id } of await state.jobs.listUnfinished()) {
      const { job } = await state.jobs.update(id, { status: "cancelled", outcome });
      hub.emit({ type: "job:cancelled", job });
    }
  }

  async settleNow(): Promise<void> {
    await this.clock?.replan();
  }

  async records(schedule: string): Promise<DueTimeRecord[]> {
    const found: DueTimeRecord[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await this.open.state.schedules.listDueRecords({
        schedule,
        limit: 1000,
        cursor,
      });
      found.push(...page.due_times);
      if (page.next_cursor === null) return found;
      cursor = page.next_cursor;
    }
  }

  async settledThrough(schedule: string): Promise<number> {
    const mark = await this.open.state.schedules.getCursor({ agent: "one", schedule });
    return Date.parse(mark?.settled_through ?? "");
  }

  async jobs(schedule: string): Promise<string[]> {
    const { jobs } = await this.open.state.jobs.list({ limit: 1000 });
    return jobs.filter((job) => job.schedule === schedule).map(({ id }) => id);
  }

  /** Lets the effects of the timers finish in real time. */
  private async waitForTimers(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await new Promise((done) => setImmediate(done));
  }

  private get open(): FleetServices {
    if (!this.services) throw new Error("it has not begun");
    return this.services;
  }
}

const maxStepMs = 20 * 60_000;
