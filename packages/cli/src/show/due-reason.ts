import type { DueRecord } from "@herdctl/core";

type Reason = NonNullable<DueRecord["reason"]>;

const texts: Record<Reason, string> = {
  overlap: "the last run was not over",
  gate_closed: "its gate was closed",
  budget_exceeded: "the budget of the day was used up",
  paused: "the agent was paused",
  too_old: "found out later than `catch_up_window` allows",
  superseded: "a later one ran in its place",
  not_caught_up: "found out too late, and `catch_up` is `skip`",
  too_many: "too many to catch up with",
  changed: "the schedule was changed before it could run",
  removed: "the schedule was removed or switched off before it could run",
  already_past: "it was over when the schedule was first seen",
};

/** Why a due time did not run, and how many the record speaks for. */
export function dueReason({ reason, count }: DueRecord): string {
  const text = reason === null ? "" : texts[reason];
  if (count === 1) return text;
  return `${count === null ? "very many" : count} in a row: ${text}`;
}
