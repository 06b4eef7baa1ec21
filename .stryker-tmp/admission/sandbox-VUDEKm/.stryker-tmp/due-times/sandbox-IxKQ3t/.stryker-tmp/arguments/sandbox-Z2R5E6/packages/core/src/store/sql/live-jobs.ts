import type { UnfinishedJob } from "@herdctl/protocol";
import { assignmentSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import type { SqlDatabase } from "./sql-database.ts";
import { queryRows, type SqlProgram, type SqlValue } from "./sql-program.ts";

/** Oldest first, read from an index of live jobs only, without their records. */
export function readLiveJobs(database: SqlDatabase): SqlProgram<UnfinishedJob[]> {
  return selectLiveJobs(database, "");
}

export function readLiveJobsOfSchedule(
  database: SqlDatabase,
  agent: string,
  schedule: string,
): SqlProgram<UnfinishedJob[]> {
  return selectLiveJobs(database, "AND agent = ? AND schedule = ?", agent, schedule);
}

function* selectLiveJobs(
  { dialect }: SqlDatabase,
  condition: string,
  ...values: SqlValue[]
): SqlProgram<UnfinishedJob[]> {
  const nodes = dialect.hasNodes ? ", node, assigned" : "";
  const sql = `SELECT id, agent, schedule, status, priority, created_at, due_at, waits_for${nodes}
               FROM jobs ${dialect.hint("jobs_live")}
               WHERE status IN ('pending', 'running', 'waiting') ${condition}
               ORDER BY created_at, seq`;
  return (yield* queryRows(sql, ...values)).map((row) => liveJobSchema.parse(row));
}

const jsonTextSchema = z.string().transform((text): unknown => JSON.parse(text));

const liveJobSchema = z.object({
  id: z.string(),
  agent: z.string(),
  schedule: z.string().nullable(),
  status: z.enum(["pending", "running", "waiting"]),
  priority: z.number(),
  created_at: z.string(),
  due_at: z.string().nullable(),
  waits_for: jsonTextSchema.pipe(z.array(z.string())),
  node: z.string().nullable().optional(),
  assigned: jsonTextSchema.pipe(assignmentSchema).nullable().optional(),
});
