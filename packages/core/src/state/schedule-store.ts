import type { DueRecord, MarkedSchedule, ScheduleName } from "./due-time.ts";
import type { ChangedInterval, NewOneShot, OneShot } from "./one-shot.ts";

export interface ScheduleStore {
  /** Every schedule whose due times are counted. */
  marks(): Promise<MarkedSchedule[]>;
  mark(name: ScheduleName): Promise<MarkedSchedule | undefined>;
  /** Ends plans and begins others, all at once; false when another configuration is in force. */
  change(change: PlanChange, now: Date): Promise<boolean>;
  /**
   * Puts down what became of due times that no job came of. Returns what it put down: one that has a
   * record already, as another node settled it, keeps that.
   */
  record(records: readonly SettledDue[]): Promise<DueRecord[]>;
  /** The clock was set back: what was put down as missed for a time after this is open again. */
  reopen(name: ScheduleName, now: Date): Promise<void>;
  /** The ledger, the latest due time first. */
  history(query: DueQuery): Promise<DuePage>;
  /** Deletes records of due times that were settled before this, some at a time, and says how many. */
  prune(settledBefore: Date, limit: number): Promise<number>;
  /** What people have switched on or off; what they have not is as the configuration says. */
  switches(): Promise<(ScheduleName & { enabled: boolean })[]>;
  switchTo(name: ScheduleName, enabled: boolean): Promise<void>;
  /** Runs that agents have planned and that have not come due, the soonest first. */
  oneShots(): Promise<OneShot[]>;
  /** With a key seen before: the first one, and nothing new. */
  planOnce(oneShot: NewOneShot): Promise<OneShot>;
  /** Intervals that hold in place of what the configuration says. */
  intervals(): Promise<ChangedInterval[]>;
  changeInterval(interval: ChangedInterval): Promise<void>;
  /** Takes back a planned run or a changed interval; false when there is neither. */
  takeBack(name: ScheduleName): Promise<boolean>;
}

/** What a configuration makes of the plans that are on record. */
export interface PlanChange {
  /** As they were read, with what is put down of their due times; what is another by now stays. */
  ended: readonly { mark: ScheduleName & { plan: unknown }; missed: readonly SettledDue[] }[];
  /** Their due times count from now on, in place of an earlier plan of the schedule. */
  begun: readonly (ScheduleName & { plan: unknown })[];
  /** Print of the configuration that it comes from, where nodes share the state. */
  config?: string;
}

/** `through` is how far the schedule is settled with it. */
export type SettledDue = Omit<DueRecord, "settled_at" | "job_id"> & { through: string };

export interface DueQuery {
  agent?: string;
  schedule?: string;
  limit: number;
  cursor?: string;
}

export interface DuePage {
  records: DueRecord[];
  next: string | null;
}
