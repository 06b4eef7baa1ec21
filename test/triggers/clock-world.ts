import { join } from "node:path";
import { type DueRecord, loadFleet } from "@herdctl/core";
import { vi } from "vitest";
import { EventHub } from "../../packages/core/src/fleet/event-hub.ts";
import { type FleetParts, openParts } from "../../packages/core/src/fleet/parts.ts";
import { Problems } from "../../packages/core/src/fleet/problems.ts";
import { ScheduleClock } from "../../packages/core/src/fleet/schedule-clock.ts";
import { triggerAll } from "../../packages/core/src/fleet/trigger-job.ts";
import { SparePool } from "../../packages/core/src/runner-process/spare.ts";

/** A fleet's clock, queue and state as they are, in a time that we make; nothing is ever started. */
export class ClockWorld {
  private parts: FleetParts | undefined;
  private clock: ScheduleClock | undefined;
  /** Told before and after each admission; what throws is the end of that fleet. */
  private killer: () => void = () => undefined;
  private dying = false;

  constructor(private readonly folder: string) {}

  async begin(): Promise<void> {
    const loaded = loadFleet(join(this.folder, "herdctl.yaml"), {});
    const hub = new EventHub(() => undefined);
    const trouble = () => undefined;
    const parts = await openParts({
      hub,
      problems: new Problems(hub),
      loaded: () => loaded,
      spares: new SparePool({ size: 0 }),
      onlyOwn: false,
      unattended: true,
      version: "0.0.0",
      node: {},
      errand: async () => undefined,
      trouble,
    });
    this.parts = parts;
    this.dying = false;
    this.clock = new ScheduleClock({
      context: parts.context,
      readPlans: () => parts.plans.read(),
      trigger: async (candidates) => {
        this.killer();
        const admissions = await triggerAll(parts, candidates);
        this.killer();
        return admissions;
      },
    });
    await this.clock.replan();
  }

  async end(): Promise<void> {
    await this.clock?.stop();
    await this.parts?.spares.stop();
    await this.parts?.state.close();
    this.parts?.lock.release();
  }

  /** Time goes by, and timers end. */
  async live(by: number): Promise<void> {
    for (let left = by; left > 0; left -= longestStretch) {
      await vi.advanceTimersByTimeAsync(Math.min(left, longestStretch));
      await this.rest();
    }
  }

  /** The clock shows another time, and no timer knows. */
  set(by: number): void {
    vi.setSystemTime(Date.now() + by);
  }

  /** After so many words with the state it is dead, in the middle of whatever it does. */
  async killAfter(words: number, by: number): Promise<void> {
    let left = words;
    this.killer = () => {
      if (this.dying || left-- <= 0) {
        this.dying = true;
        throw new Error("killed");
      }
    };
    await this.live(by);
    await this.end();
    this.killer = () => undefined;
    await this.begin();
  }

  /** Every job that is not over ends now. */
  async finishAll(): Promise<void> {
    const { state, context } = this.open;
    const outcome = { code: "cancelled" as const, message: "-", hint: "-" };
    for (const { id } of await state.jobs.unfinished()) {
      const { job } = await state.jobs.update(id, { status: "cancelled", outcome });
      context.hub.emit({ type: "job:cancelled", job });
    }
  }

  async settleNow(): Promise<void> {
    await this.clock?.replan();
  }

  async records(schedule: string): Promise<DueRecord[]> {
    const found: DueRecord[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await this.open.state.schedules.history({ schedule, limit: 1000, cursor });
      found.push(...page.records);
      if (page.next === null) return found;
      cursor = page.next;
    }
  }

  async through(schedule: string): Promise<number> {
    const mark = await this.open.state.schedules.mark({ agent: "one", schedule });
    return Date.parse(mark?.through ?? "");
  }

  async jobs(schedule: string): Promise<string[]> {
    const { jobs } = await this.open.state.jobs.list({ limit: 1000 });
    return jobs.filter((job) => job.schedule === schedule).map(({ id }) => id);
  }

  /** Lets what the timers set off come to its end in real time. */
  private async rest(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await new Promise((done) => setImmediate(done));
  }

  private get open(): FleetParts {
    if (!this.parts) throw new Error("it has not begun");
    return this.parts;
  }
}

const longestStretch = 20 * 60_000;
