/** A table that is copied from the embedded database to the shared one. */
export interface CopiedTable {
  name: string;
  /**
   * Sort order of the rows. Numbers that the database generates are assigned again in this order.
   */
  order: string;
}

/**
 * Referenced tables come first. Due times come before one-shot runs, because inserting a due time
 * deletes its one-shot run. `session_leases` is skipped: the processes that held them are gone.
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

export const skippedTables: readonly string[] = ["session_leases"];

/** Whether the order of the rows has a meaning beyond their content. */
export function hasMeaningfulOrder({ order }: CopiedTable): boolean {
  return order === "seq" || order === "rowid";
}
