import type { Candidate } from "../../jobs/admission/admit.ts";
import type { SettledDueTime } from "../../store/contracts/schedule-store.ts";
import { missedRecord, toIsoString } from "./reconcile-schedules.ts";
import { type ScheduleEntry, scheduleKey } from "./schedule-entries.ts";
import type { DueDecision } from "./settle-due-times.ts";

/** An action for due times: run one, or record that some are not run. */
export type DueAction =
  | DueRun
  | { kind: "record"; entry: ScheduleEntry; through: string; record: SettledDueTime };

export interface DueRun {
  kind: "run";
  entry: ScheduleEntry;
  through: string;
  due: number;
  isCatchUp: boolean;
}

/**
 * The actions of all schedules, ordered by due time; equal due times keep the order of the
 * configuration.
 */
export function actionsFor(
  settled: readonly { entry: ScheduleEntry; decisions: readonly DueDecision[] }[],
  paused: ReadonlySet<string>,
): DueAction[] {
  return settled
    .flatMap(({ entry, decisions }) => decisions.map((decision) => ({ entry, decision })))
    .sort((a, b) => dueTimeOf(a.decision) - dueTimeOf(b.decision))
    .map(({ entry, decision }) => actionFor(entry, decision, paused));
}

/** After this many actions, other work gets its turn. */
export const maxBatchSize = 50;

/** Consecutive actions of one kind share a transaction; gated runs are handled one at a time. */
export function batchActions(actions: readonly DueAction[]): DueAction[][] {
  const batches: DueAction[][] = [];
  for (const action of actions) {
    const batch = batches.at(-1);
    const first = batch?.[0];
    const canJoin =
      first && batchKindOf(first) === batchKindOf(action) && batch.length < maxBatchSize;
    if (canJoin && batchKindOf(action) !== "gated") batch.push(action);
    else batches.push([action]);
  }
  return batches;
}

/** The key is made from the due time, so that a due time gives at most one job. */
export function candidateFor({ entry, due, through, isCatchUp }: DueRun): Candidate {
  const { agent, schedule, config } = entry;
  const key = `due ${scheduleKey(entry)} ${toIsoString(due)}`;
  // With `catch_up: all` every missed run is wanted, although they come together; the agent's
  // `max_concurrent` limits them.
  const overlap = isCatchUp && config.catch_up === "all" ? { overlap: "allow" as const } : {};
  return {
    request: { trigger: config.type, agent, schedule, key },
    due: { due_at: toIsoString(due), through },
    ...overlap,
  };
}

function actionFor(
  entry: ScheduleEntry,
  decision: DueDecision,
  paused: ReadonlySet<string>,
): DueAction {
  const through = toIsoString(decision.settledThrough);
  if (decision.kind === "missed") {
    return { kind: "record", entry, through, record: missedRecord(entry, decision) };
  }
  const { due, isCatchUp } = decision;
  if (!paused.has(entry.agent)) return { kind: "run", entry, through, due, isCatchUp };
  const { agent, schedule } = entry;
  const time = { due_at: toIsoString(due), last_due_at: toIsoString(due), count: 1, through };
  const record = {
    agent,
    schedule,
    ...time,
    result: "skipped" as const,
    reason: "paused" as const,
  };
  return { kind: "record", entry, through, record };
}

function dueTimeOf(decision: DueDecision): number {
  return decision.kind === "run" ? decision.due : decision.last;
}

function batchKindOf(action: DueAction): string {
  return action.kind === "run" && action.entry.isGated ? "gated" : action.kind;
}
