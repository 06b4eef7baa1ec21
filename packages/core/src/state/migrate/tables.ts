/** A table that goes from the embedded database to the shared one. */
export interface CopiedTable {
  name: string;
  /** By what its rows are in order; a number that the database gives is given anew, in this order. */
  order: string;
}

/**
 * What is named comes before what names it. Due times come before planned runs, since a due time
 * takes the run that was planned for it away. A lease of a session is no more than the word of a
 * process that is gone: `session_leases` stays behind.
 */
export const copiedTables: readonly CopiedTable[] = [
  { name: "jobs", order: "seq" },
  { name: "attempts", order: "job_id, number" },
  { name: "endings", order: "seq" },
  { name: "sessions", order: "rowid" },
  { name: "approvals", order: "seq" },
  { name: "schedule_switches", order: "agent, schedule" },
  { name: "schedules", order: "agent, schedule" },
  { name: "due_times", order: "agent, schedule, due_at" },
  { name: "one_shots", order: "agent, schedule" },
  { name: "schedule_intervals", order: "agent, schedule" },
  { name: "budget_raises", order: "day, agent" },
  { name: "pauses", order: "rowid" },
  { name: "day_costs", order: "day, agent, schedule, model" },
  { name: "deliveries", order: "seq" },
  { name: "hook_runs", order: "seq" },
  { name: "work_claims", order: "seq" },
  { name: "chat_links", order: "agent, platform" },
  { name: "conversations", order: "id" },
  { name: "chat_messages", order: "seq" },
  { name: "chat_posts", order: "rowid" },
  { name: "access_tokens", order: "name" },
  { name: "logins", order: "id" },
  { name: "audit_log", order: "number" },
  { name: "audit_head", order: "id" },
];

export const leftBehind: readonly string[] = ["session_leases"];

/** Whether the order of its rows means something, beyond what they say themselves. */
export function isNumbered({ order }: CopiedTable): boolean {
  return order === "seq" || order === "rowid";
}
