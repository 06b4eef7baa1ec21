import {
  type ChainSpending,
  type Job,
  type JobChange,
  type NewJob,
  type Outcome,
  type UnfinishedJob,
  UserError,
} from "@herdctl/protocol";
import { assignmentSchema, jobChangeSchema, jobSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import type { AdmissionDecision, AdmissionRequest, AdmissionResult } from "../model/admission.ts";
import { checkJobId, newJobId } from "../model/ids.ts";
import { decideJobChange, type JobUpdateResult, newJobRecord } from "../model/job-change.ts";
import { recordDelivery } from "./delivery-store.ts";
import { isDueTimeSettled, recordDueTimeOfJob } from "./schedule-store.ts";
import type { RunningSpending } from "./spending.ts";
import {
  execute,
  queryRow,
  queryRows,
  readRecord,
  type SqlDatabase,
  type SqlProgram,
  type SqlRow,
  type SqlValue,
} from "./sql-program.ts";

/** Reads and changes job records within a transaction. */
export class JobRecords {
  constructor(
    private readonly database: SqlDatabase,
    private readonly clock: () => Date,
    private readonly outputFile: (id: string) => string,
  ) {}

  get(id: string): SqlProgram<Job | undefined> {
    return this.selectOne("WHERE id = ?", id);
  }

  findByKey(key: string): SqlProgram<Job | undefined> {
    return this.selectOne("WHERE idempotency_key = ?", key);
  }

  *getOrThrow(id: string): SqlProgram<Job> {
    const job = yield* this.get(id);
    if (!job) throw new UserError("job_not_found", `there is no job ${id}`);
    return job;
  }

  *select(clause: string, ...values: SqlValue[]): SqlProgram<Job[]> {
    const rows = yield* queryRows(`SELECT id, record FROM jobs ${clause}`, ...values);
    return rows.map((row) => this.parseRow(row));
  }

  *insert({ id: givenId, ...newJob }: NewJob): SqlProgram<Job> {
    const now = this.clock();
    const id = checkJobId(givenId ?? newJobId(now));
    if (yield* this.get(id)) throw new UserError("usage", `there is already a job ${id}`);
    const job = newJobRecord(newJob, id, now, this.outputFile(id));
    const { output_file: _, ...record } = job;
    yield* execute("INSERT INTO jobs (id, record) VALUES (?, ?)", id, JSON.stringify(record));
    return job;
  }

  *removePending(id: string): SqlProgram<void> {
    const { status } = yield* this.getOrThrow(id);
    if (status !== "pending")
      throw new UserError("usage", `job ${id} is ${status}, so it cannot be started`, {
        hint: "Use another job id.",
      });
    yield* execute("DELETE FROM jobs WHERE id = ?", id);
  }

  /** `derivedFields`: fields that callers cannot set themselves. */
  *change(job: Job, change: JobChange, derivedFields?: Partial<Job>): SqlProgram<JobUpdateResult> {
    const decision = decideJobChange(job, jobChangeSchema.parse(change), this.clock());
    if (decision.kind === "finished") return { applied: false, job };
    if (decision.kind === "refuse") throw new Error(`${job.id}: ${decision.reason}`);
    const changed = { ...decision.job, ...derivedFields };
    const { output_file: _, ...record } = changed;
    yield* execute("UPDATE jobs SET record = ? WHERE id = ?", JSON.stringify(record), job.id);
    return { applied: true, job: changed };
  }

  parseRow(row: SqlRow): Job {
    const output_file = this.outputFile(String(row.id));
    return readRecord(this.database, jobSchema, row, { output_file });
  }

  private *selectOne(where: string, value: SqlValue): SqlProgram<Job | undefined> {
    const row = yield* queryRow(`SELECT id, record FROM jobs ${where}`, value);
    return row && this.parseRow(row);
  }
}

/** Oldest first, read from an index of live jobs only, without their records. */
export function readLiveJobs(database: SqlDatabase): SqlProgram<UnfinishedJob[]> {
  return selectLiveJobs(database, "");
}

function readLiveJobsOfSchedule(
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

/**
 * Decides about a request within a transaction, and records its job with the due time and delivery.
 */
export class JobAdmission {
  constructor(
    private readonly database: SqlDatabase,
    private readonly records: JobRecords,
    private readonly clock: () => Date,
  ) {}

  *admitAll(
    requests: readonly AdmissionRequest[],
    spending: RunningSpending,
  ): SqlProgram<AdmissionResult[]> {
    const admitted: AdmissionResult[] = [];
    for (const request of requests) admitted.push(yield* this.admitWithDelivery(request, spending));
    return admitted;
  }

  private *admitWithDelivery(
    request: AdmissionRequest,
    spending: RunningSpending,
  ): SqlProgram<AdmissionResult> {
    const admitted = yield* this.admitOne(request, spending);
    if (!request.delivery) return admitted;
    const delivery = { ...request.delivery, job_id: admitted.job.id };
    const recorded = yield* recordDelivery(this.database, delivery, this.clock());
    return { ...admitted, delivery: recorded };
  }

  private *admitOne(
    request: AdmissionRequest,
    spending: RunningSpending,
  ): SqlProgram<AdmissionResult> {
    const { job: newJob, due } = request;
    const existing =
      !request.replacesPending &&
      newJob.idempotency_key &&
      (yield* this.records.findByKey(newJob.idempotency_key));
    if (existing) return { job: existing, created: false, jobsToCancel: [] };
    // Removed first, so that the job does not count as its own predecessor.
    if (request.replacesPending) yield* this.records.removePending(newJob.id ?? "");
    const decision = yield* this.decide(request, spending);
    const job = yield* this.records.insert({ ...newJob, ...fieldsOfDecision(newJob, decision) });
    if (decision.kind === "accept") spending.add(newJob.agent, job.reserved_usd);
    if (due) yield* recordDueTimeOfJob(this.database, job, due);
    return {
      job,
      created: true,
      jobsToCancel: decision.kind === "accept" ? decision.jobsToCancel : [],
    };
  }

  private *decide(
    { job, decide, due, day, needsLiveJobs }: AdmissionRequest,
    spending: RunningSpending,
  ): SqlProgram<AdmissionDecision> {
    const { agent, schedule, chain } = job;
    if (due && schedule && (yield* isDueTimeSettled({ agent, schedule }, due.due_at)))
      return alreadySettled;
    return decide({
      liveJobs:
        needsLiveJobs && schedule
          ? yield* readLiveJobsOfSchedule(this.database, agent, schedule)
          : [],
      spending: day && (yield* spending.forDay(day)),
      chain: chain && (yield* readChainSpent(this.database, chain.id)),
    });
  }
}

/** Another node recorded that this due time does not run; a due time has only one record. */
const alreadySettled: AdmissionDecision = {
  kind: "skip",
  outcome: {
    code: "overlap",
    message: "This due time was settled before.",
    hint: "Run `herdctl schedules history` to see its result.",
  } satisfies Outcome,
};

function fieldsOfDecision({ chain }: NewJob, decision: AdmissionDecision): Partial<NewJob> {
  if (decision.kind === "skip") return { skipped: decision.outcome };
  return chain && decision.maxUsd !== undefined
    ? { chain: { ...chain, max_usd: decision.maxUsd } }
    : {};
}

/** Counted from the job records. Skipped jobs do not count. */
function* readChainSpent({ dialect }: SqlDatabase, firstId: string): SqlProgram<ChainSpending> {
  const row = yield* queryRow(
    `SELECT count(*) AS jobs, sum(${dialect.greatest}(
       coalesce(cost_usd, 0),
       CASE WHEN finished_at IS NULL THEN coalesce(reserved_usd, 0) ELSE 0 END
     )) AS usd
     FROM jobs ${dialect.hint("jobs_chain")} WHERE chain = ? AND status <> 'skipped'`,
    firstId,
  );
  return { jobs: Number(row?.jobs ?? 0), usd: Number(row?.usd ?? 0) };
}
