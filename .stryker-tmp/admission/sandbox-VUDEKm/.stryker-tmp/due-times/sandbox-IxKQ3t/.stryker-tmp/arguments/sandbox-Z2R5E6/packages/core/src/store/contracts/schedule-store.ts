import type {
  DueTimePage,
  DueTimeQuery,
  DueTimeRecord,
  ScheduleCursor,
  ScheduleRef,
} from "@herdctl/protocol";
import type { IntervalOverride, NewOneShot, OneShot } from "../model/agent-schedule.ts";

export interface ScheduleStore {
  /** Every schedule whose due times are counted. */
  listCursors(): Promise<ScheduleCursor[]>;
  getCursor(name: ScheduleRef): Promise<ScheduleCursor | undefined>;
  /**
   * Ends plans and starts others in one transaction. Resolves with false if a different
   * configuration is in force.
   */
  applyPlanChange(change: SchedulePlanChange, now: Date): Promise<boolean>;
  /**
   * Records due times that gave no job. Returns the new records: a due time that another node has
   * settled keeps its record.
   */
  recordSettled(records: readonly SettledDueTime[]): Promise<DueTimeRecord[]>;
  /** After the clock was set back: reopens due times after `now` that were recorded as missed. */
  reopenMissed(name: ScheduleRef, now: Date): Promise<void>;
  /** The ledger, latest due time first. */
  listDueRecords(query: DueTimeQuery): Promise<DueTimePage>;
  /** Deletes records that were settled before this, some at a time. Resolves with their number. */
  prune(settledBefore: Date, limit: number): Promise<number>;
  /** Schedules that people switched on or off. All others follow the configuration. */
  listSwitches(): Promise<(ScheduleRef & { enabled: boolean })[]>;
  setEnabled(name: ScheduleRef, enabled: boolean): Promise<void>;
  /** Runs that agents planned and that have not come due, soonest first. */
  listOneShots(): Promise<OneShot[]>;
  /** With a known key, returns the first one and creates nothing. */
  createOneShot(oneShot: NewOneShot): Promise<OneShot>;
  /** Intervals that replace those of the configuration. */
  listIntervalOverrides(): Promise<IntervalOverride[]>;
  setIntervalOverride(interval: IntervalOverride): Promise<void>;
  /** Removes a planned run or a changed interval. Resolves with false if there is neither. */
  removeAgentSchedule(name: ScheduleRef): Promise<boolean>;
}

/** The changes that a configuration makes to the recorded plans. */
export interface SchedulePlanChange {
  /**
   * Plans as they were read, with records of their open due times. A plan that has changed since
   * stays.
   */
  removed: readonly { entry: ScheduleRef & { plan: unknown }; missed: readonly SettledDueTime[] }[];
  /** Their due times count from now and replace earlier plans of the schedule. */
  added: readonly (ScheduleRef & { plan: unknown })[];
  /** Hash of the configuration, where nodes share the state. */
  configHash?: string;
}

/** `through`: how far the schedule is settled with this record. */
export type SettledDueTime = Omit<DueTimeRecord, "settled_at" | "job_id"> & { through: string };
