import type { ResponseOfRoute } from "../../api/call-fleet.ts";
import { isSpan, type Span } from "../time-spans.ts";

type Job = ResponseOfRoute<"jobs">["jobs"][number];
type Outcome = NonNullable<Job["outcome"]>["code"];

const activityTabs = ["jobs", "deliveries", "due", "hooks"] as const;

export const statuses: readonly Job["status"][] = [
  "pending",
  "running",
  "waiting",
  "completed",
  "failed",
  "cancelled",
  "skipped",
];

/** The outcomes offered as filters. */
export const outcomes: readonly Outcome[] = [
  "success",
  "finished_with_denials",
  "max_turns",
  "budget_exceeded",
  "timeout",
  "stalled",
  "rate_limited",
  "usage_limit",
  "auth_failed",
  "runtime_crashed",
  "oom_killed",
  "interrupted",
  "cancelled",
  "overlap",
  "gate_closed",
];

export interface ActivitySearch {
  tab?: (typeof activityTabs)[number];
  agent?: string;
  schedule?: string;
  status?: Job["status"];
  outcome?: Outcome;
  since?: Span;
  session?: string;
  /** Also show jobs that were recorded but not run. */
  skipped?: true;
}

/** Parses the URL's search parameters and drops unknown values. */
export function parseActivitySearch(search: Record<string, unknown>): ActivitySearch {
  return {
    tab: activityTabs.find((tab) => tab === search.tab),
    agent: nonEmptyText(search.agent),
    schedule: nonEmptyText(search.schedule),
    status: statuses.find((status) => status === search.status),
    outcome: outcomes.find((outcome) => outcome === search.outcome),
    since: isSpan(search.since) ? search.since : undefined,
    session: nonEmptyText(search.session),
    skipped: search.skipped === true ? true : undefined,
  };
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
