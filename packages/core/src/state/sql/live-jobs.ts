import { z } from "zod";
import { assignmentSchema, type LiveJob } from "../job.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { all, type Steps, type Value } from "./steps.ts";

/** Oldest first, from an index that holds live jobs only; their records are not touched. */
export function readLiveJobs(database: SqlDatabase): Steps<LiveJob[]> {
  return select(database, "");
}

export function readLiveOf(
  database: SqlDatabase,
  agent: string,
  schedule: string,
): Steps<LiveJob[]> {
  return select(database, "AND agent = ? AND schedule = ?", agent, schedule);
}

function* select(
  { dialect }: SqlDatabase,
  condition: string,
  ...values: Value[]
): Steps<LiveJob[]> {
  const nodes = dialect.nodes ? ", node, assigned" : "";
  const sql = `SELECT id, agent, schedule, status, priority, created_at, due_at, waits_for${nodes}
               FROM jobs ${dialect.hint("jobs_live")}
               WHERE status IN ('pending', 'running', 'waiting') ${condition}
               ORDER BY created_at, seq`;
  return (yield* all(sql, ...values)).map((row) => liveJobSchema.parse(row));
}

const json = z.string().transform((text): unknown => JSON.parse(text));

const liveJobSchema = z.object({
  id: z.string(),
  agent: z.string(),
  schedule: z.string().nullable(),
  status: z.enum(["pending", "running", "waiting"]),
  priority: z.number(),
  created_at: z.string(),
  due_at: z.string().nullable(),
  waits_for: json.pipe(z.array(z.string())),
  node: z.string().nullable().optional(),
  assigned: json.pipe(assignmentSchema).nullable().optional(),
});
