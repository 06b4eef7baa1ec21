import { z } from "zod";
import type { LiveJob } from "../job.ts";
import type { Database, Value } from "./database.ts";

/** Oldest first, from an index that holds live jobs only; their records are not touched. */
export function readLiveJobs(database: Database): LiveJob[] {
  return select(database, "");
}

export function readLiveOf(database: Database, agent: string, schedule: string): LiveJob[] {
  return select(database, "AND agent = ? AND schedule = ?", agent, schedule);
}

function select(database: Database, condition: string, ...values: Value[]): LiveJob[] {
  const sql = `SELECT id, agent, schedule, status, priority, created_at, due_at, waits_for
               FROM jobs INDEXED BY jobs_live
               WHERE status IN ('pending', 'running', 'waiting') ${condition}
               ORDER BY created_at, seq`;
  return database.all(sql, ...values).map((row) => liveJobSchema.parse(row));
}

const liveJobSchema = z.object({
  id: z.string(),
  agent: z.string(),
  schedule: z.string().nullable(),
  status: z.enum(["pending", "running", "waiting"]),
  priority: z.number(),
  created_at: z.string(),
  due_at: z.string().nullable(),
  waits_for: z.string().transform((text) => z.array(z.string()).parse(JSON.parse(text))),
});
