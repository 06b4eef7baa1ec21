import type { Candidate } from "../queue/admit.ts";
import type { SettledDue } from "../state/schedule-store.ts";
import type { Verdict } from "../triggers/schedule/settle.ts";
import { iso, missedRecord } from "./plan-book.ts";
import { keyOf, type TimedEntry } from "./timetable.ts";

/** One thing to do about due times: to let one run, or to put down that it does not. */
export type Step =
  | DueRun
  | { kind: "record"; entry: TimedEntry; through: string; record: SettledDue };

export interface DueRun {
  kind: "run";
  entry: TimedEntry;
  through: string;
  due: number;
  caughtUp: boolean;
}

/** Of all schedules, in the order in which they came due; what is due at once as it is written. */
export function stepsOf(
  settled: readonly { entry: TimedEntry; verdicts: readonly Verdict[] }[],
  paused: ReadonlySet<string>,
): Step[] {
  return settled
    .flatMap(({ entry, verdicts }) => verdicts.map((verdict) => ({ entry, verdict })))
    .sort((a, b) => timeOf(a.verdict) - timeOf(b.verdict))
    .map(({ entry, verdict }) => stepOf(entry, verdict, paused));
}

/** No more is done before others have their turn. */
export const mostAtOnce = 50;

/** Neighbours of a kind are settled in one transaction; a gate is asked for one at a time. */
export function groupsOf(steps: readonly Step[]): Step[][] {
  const groups: Step[][] = [];
  for (const step of steps) {
    const group = groups.at(-1);
    const first = group?.[0];
    const fits = first && classOf(first) === classOf(step) && group.length < mostAtOnce;
    if (fits && classOf(step) !== "gated") group.push(step);
    else groups.push([step]);
  }
  return groups;
}

/** The key is the due time itself: however often it is brought, it is one job. */
export function candidateOf({ entry, due, through, caughtUp }: DueRun): Candidate {
  const { agent, schedule, config } = entry;
  const key = `due ${keyOf(entry)} ${iso(due)}`;
  // All that is caught up is wanted, though it comes at once: it runs as the agent has room.
  const overlap = caughtUp && config.catch_up === "all" ? { overlap: "allow" as const } : {};
  return {
    request: { trigger: config.type, agent, schedule, key },
    due: { due_at: iso(due), through },
    ...overlap,
  };
}

function stepOf(entry: TimedEntry, verdict: Verdict, paused: ReadonlySet<string>): Step {
  const through = iso(verdict.through);
  if (verdict.kind === "missed") {
    return { kind: "record", entry, through, record: missedRecord(entry, verdict) };
  }
  const { due, caughtUp } = verdict;
  if (!paused.has(entry.agent)) return { kind: "run", entry, through, due, caughtUp };
  const { agent, schedule } = entry;
  const time = { due_at: iso(due), until: iso(due), count: 1, through };
  const record = {
    agent,
    schedule,
    ...time,
    result: "skipped" as const,
    reason: "paused" as const,
  };
  return { kind: "record", entry, through, record };
}

function timeOf(verdict: Verdict): number {
  return verdict.kind === "run" ? verdict.due : verdict.last;
}

function classOf(step: Step): string {
  return step.kind === "run" && step.entry.asks ? "gated" : step.kind;
}
