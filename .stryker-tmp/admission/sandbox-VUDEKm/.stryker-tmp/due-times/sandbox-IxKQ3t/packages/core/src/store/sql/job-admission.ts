import type { ChainSpending, NewJob, Outcome } from "@herdctl/protocol";
import type { AdmissionDecision, AdmissionRequest, AdmissionResult } from "../model/admission.ts";
import { recordDelivery } from "./delivery-records.ts";
import { isDueTimeSettled, recordDueTimeOfJob } from "./due-time-records.ts";
import type { JobRecords } from "./job-records.ts";
import { readLiveJobsOfSchedule } from "./live-jobs.ts";
import type { RunningSpending } from "./spending.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { queryRow, type SqlProgram } from "./sql-program.ts";

/**
 * Decides about a request within a transaction, and records its job with the due time and delivery.
 */
export class JobAdmission {
  readonly #database: SqlDatabase;
  readonly #records: JobRecords;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, records: JobRecords, clock: () => Date) {
    this.#database = database;
    this.#records = records;
    this.#clock = clock;
  }

  *admitAll(
    requests: readonly AdmissionRequest[],
    spending: RunningSpending,
  ): SqlProgram<AdmissionResult[]> {
    const admitted: AdmissionResult[] = [];
    for (const request of requests)
      admitted.push(yield* this.#admitWithDelivery(request, spending));
    return admitted;
  }

  *#admitWithDelivery(
    request: AdmissionRequest,
    spending: RunningSpending,
  ): SqlProgram<AdmissionResult> {
    const admitted = yield* this.#admitOne(request, spending);
    if (!request.delivery) return admitted;
    const delivery = { ...request.delivery, job_id: admitted.job.id };
    const recorded = yield* recordDelivery(this.#database, delivery, this.#clock());
    return { ...admitted, delivery: recorded };
  }

  *#admitOne(request: AdmissionRequest, spending: RunningSpending): SqlProgram<AdmissionResult> {
    const { job: newJob, due } = request;
    const existing =
      newJob.idempotency_key && (yield* this.#records.findByKey(newJob.idempotency_key));
    if (existing) return { job: existing, created: false, jobsToCancel: [] };
    const decision = yield* this.#decide(request, spending);
    const job = yield* this.#records.insert({ ...newJob, ...fieldsOfDecision(newJob, decision) });
    if (decision.kind === "accept") spending.add(newJob.agent, job.reserved_usd);
    if (due) yield* recordDueTimeOfJob(this.#database, job, due);
    return {
      job,
      created: true,
      jobsToCancel: decision.kind === "accept" ? decision.jobsToCancel : [],
    };
  }

  *#decide(
    { job, decide, due, day, needsLiveJobs }: AdmissionRequest,
    spending: RunningSpending,
  ): SqlProgram<AdmissionDecision> {
    const { agent, schedule, chain } = job;
    if (due && schedule && (yield* isDueTimeSettled({ agent, schedule }, due.due_at)))
      return alreadySettled;
    return decide({
      liveJobs:
        needsLiveJobs && schedule
          ? yield* readLiveJobsOfSchedule(this.#database, agent, schedule)
          : [],
      spending: day && (yield* spending.forDay(day)),
      chain: chain && (yield* readChainSpent(this.#database, chain.id)),
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
