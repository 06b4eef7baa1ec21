import type { Answer } from "../../api/ask.ts";

type Job = Answer<"jobs">["jobs"][number];
type Outcome = NonNullable<Job["outcome"]>["code"];

const activityTabs = ["jobs", "deliveries", "due"] as const;

export const statuses: readonly Job["status"][] = [
  "pending",
  "running",
  "waiting",
  "completed",
  "failed",
  "cancelled",
  "skipped",
];

/** Those that people look for. */
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

const hour = 3_600_000;
export const spans = { "1h": hour, "24h": 24 * hour, "7d": 168 * hour, "30d": 720 * hour } as const;
type Span = keyof typeof spans;

export interface ActivitySearch {
  tab?: (typeof activityTabs)[number];
  agent?: string;
  schedule?: string;
  status?: Job["status"];
  outcome?: Outcome;
  since?: Span;
  session?: string;
}

/** What the address may say; anything else is left out. */
export function parseActivitySearch(given: Record<string, unknown>): ActivitySearch {
  return {
    tab: activityTabs.find((tab) => tab === given.tab),
    agent: words(given.agent),
    schedule: words(given.schedule),
    status: statuses.find((status) => status === given.status),
    outcome: outcomes.find((outcome) => outcome === given.outcome),
    since: isSpan(given.since) ? given.since : undefined,
    session: words(given.session),
  };
}

function words(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isSpan(value: unknown): value is Span {
  return typeof value === "string" && Object.hasOwn(spans, value);
}
