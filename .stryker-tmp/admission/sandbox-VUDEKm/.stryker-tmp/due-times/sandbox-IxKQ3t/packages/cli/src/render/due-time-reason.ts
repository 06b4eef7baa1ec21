import type { DueTimeRecord } from "@herdctl/protocol";

type Reason = NonNullable<DueTimeRecord["reason"]>;

const reasonTexts: Record<Reason, string> = {
  overlap: "the previous run was still in progress",
  gate_closed: "the gate was closed",
  budget_exceeded: "the daily budget was used up",
  paused: "the agent was paused",
  too_old: "older than `catch_up_window`",
  superseded: "a later due time ran instead",
  not_caught_up: "the fleet was late, and `catch_up` is `skip`",
  too_many: "too many due times to catch up on",
  changed: "the schedule was changed before it could run",
  removed: "the schedule was removed or disabled before it could run",
  already_past: "in the past when the schedule was added",
};

/** Why a due time did not run, and how many due times the record covers. */
export function dueReasonText({ reason, count }: DueTimeRecord): string {
  const text = reason === null ? "" : reasonTexts[reason];
  if (count === 1) return text;
  return `${count === null ? "many" : count} in a row: ${text}`;
}
