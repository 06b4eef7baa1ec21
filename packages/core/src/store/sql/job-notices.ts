import type { Attempt, HookCause, Job } from "@herdctl/protocol";
import { hookCauseSchema } from "@herdctl/protocol/schemas";
import {
  execute,
  queryRow,
  queryRows,
  readRecord,
  type SqlDatabase,
  type SqlProgram,
} from "./sql-program.ts";

/** An event of an unfinished job whose hooks are undecided. */
export interface JobNotice {
  seq: number;
  jobId: string;
  cause: HookCause;
}

/** Recorded in the transaction of the event, so that no hook is lost. */
export function* recordNotice(jobId: string, cause: HookCause): SqlProgram<void> {
  const sql = "INSERT INTO job_notices (job_id, record) VALUES (?, ?)";
  yield* execute(sql, jobId, JSON.stringify(hookCauseSchema.parse(cause)));
}

/** A job that waits again for the same reason gives no second notice. */
export function* recordWait(
  { id, status, outcome, due_at }: Job,
  attempt: Pick<Attempt, "number">,
): SqlProgram<void> {
  if (status !== "waiting" || due_at === null || outcome === null) return;
  const sql = "SELECT record FROM attempts WHERE job_id = ? AND number = ?";
  const earlier = yield* queryRow(sql, id, attempt.number - 1);
  const earlierAttempt: Partial<Attempt> = earlier ? JSON.parse(String(earlier.record)) : {};
  if (earlierAttempt.outcome_code === outcome.code) return;
  yield* recordNotice(id, { kind: "wait", attempt: attempt.number, outcome, until: due_at });
}

/** In the order in which they were recorded. */
export function* readNotices(database: SqlDatabase): SqlProgram<JobNotice[]> {
  const rows = yield* queryRows("SELECT seq, job_id, record FROM job_notices ORDER BY seq");
  return rows.map((row) => ({
    seq: Number(row.seq),
    jobId: String(row.job_id),
    cause: readRecord(database, hookCauseSchema, row),
  }));
}

/** False if it was removed before. */
export function* removeNotice(seq: number): SqlProgram<boolean> {
  return (yield* execute("DELETE FROM job_notices WHERE seq = ?", seq)) > 0;
}
