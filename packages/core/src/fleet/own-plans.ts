import type { Fleet } from "../config/load.ts";
import type { ScheduleName } from "../state/due-time.ts";
import type { ChangedInterval, OneShot } from "../state/one-shot.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { EventHub } from "./event-hub.ts";
import { withPlans } from "./with-plans.ts";

/** What agents have planned for themselves, laid over the configuration in force. */
export class OwnPlans {
  private oneShots: OneShot[] = [];
  private intervals: ChangedInterval[] = [];
  /** For whoever tells other nodes. */
  onChanged: () => void = () => undefined;
  private made: { from: Fleet; fleet: Fleet } | undefined;

  constructor(
    private readonly state: StateManager,
    hub: EventHub,
  ) {
    for (const type of ["job:created", "job:skipped"] as const)
      hub.on(type, ({ job: { agent, schedule } }) => this.settled({ agent, schedule }));
    hub.on("schedule:not_run", ({ due }) => this.settled(due));
  }

  /** After the state has changed. */
  async read(): Promise<void> {
    this.oneShots = await this.state.schedules.oneShots();
    this.intervals = await this.state.schedules.intervals();
    this.made = undefined;
  }

  /** The state was changed from here. */
  async changed(): Promise<void> {
    await this.read();
    this.onChanged();
  }

  over(from: Fleet): Fleet {
    if (this.made?.from !== from)
      this.made = { from, fleet: withPlans(from, this.oneShots, this.intervals) };
    return this.made.fleet;
  }

  openOf(agent: string): OneShot[] {
    return this.oneShots.filter((one) => one.agent === agent);
  }

  /** The run that an agent planned under this name. */
  find({ agent, schedule }: ScheduleName): OneShot | undefined {
    return this.openOf(agent).find((one) => one.schedule === schedule);
  }

  /** The state has let go of it in the same step in which it came due. */
  private settled({ agent, schedule }: { agent: string; schedule: string | null }): void {
    const rest = this.oneShots.filter((one) => one.agent !== agent || one.schedule !== schedule);
    if (rest.length === this.oneShots.length) return;
    this.oneShots = rest;
    this.made = undefined;
  }
}
