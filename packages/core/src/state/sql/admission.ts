import type { AdmissionDecision, Admitted, Application } from "../admission.ts";
import type { NewJob } from "../job.ts";
import type { Outcome } from "../outcome.ts";
import { readChainSpent } from "./chain-spent.ts";
import { recordDelivery } from "./delivery-records.ts";
import { isSettled, recordJobOfDue } from "./due-records.ts";
import type { JobRecords } from "./job-records.ts";
import { readLiveOf } from "./live-jobs.ts";
import type { RunningSpending } from "./spending.ts";
import type { SqlDatabase } from "./sql-database.ts";
import type { Steps } from "./steps.ts";

/** Within a transaction: one application is decided on, and its job recorded with all that brought it. */
export class Admission {
  readonly #database: SqlDatabase;
  readonly #records: JobRecords;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, records: JobRecords, clock: () => Date) {
    this.#database = database;
    this.#records = records;
    this.#clock = clock;
  }

  *all(applications: readonly Application[], spending: RunningSpending): Steps<Admitted[]> {
    const admitted: Admitted[] = [];
    for (const one of applications) admitted.push(yield* this.#withDelivery(one, spending));
    return admitted;
  }

  *#withDelivery(application: Application, spending: RunningSpending): Steps<Admitted> {
    const admitted = yield* this.#admit(application, spending);
    if (!application.delivery) return admitted;
    const delivery = { ...application.delivery, job_id: admitted.job.id };
    const recorded = yield* recordDelivery(this.#database, delivery, this.#clock());
    return { ...admitted, delivery: recorded };
  }

  *#admit(application: Application, spending: RunningSpending): Steps<Admitted> {
    const { job: given, due } = application;
    const first = given.idempotency_key && (yield* this.#records.findByKey(given.idempotency_key));
    if (first) return { job: first, created: false, cancel: [] };
    const decision = yield* this.#decide(application, spending);
    const job = yield* this.#records.insert({ ...given, ...decided(given, decision) });
    if (decision.kind === "accept") spending.add(given.agent, job.reserved_usd);
    if (due) yield* recordJobOfDue(this.#database, job, due);
    return { job, created: true, cancel: decision.kind === "accept" ? decision.cancel : [] };
  }

  *#decide(
    { job, decide, due, day, wantsLive }: Application,
    spending: RunningSpending,
  ): Steps<AdmissionDecision> {
    const { agent, schedule, chain } = job;
    if (due && schedule && (yield* isSettled({ agent, schedule }, due.due_at))) return settled;
    return decide({
      live: wantsLive && schedule ? yield* readLiveOf(this.#database, agent, schedule) : [],
      spending: day && (yield* spending.on(day)),
      chain: chain && (yield* readChainSpent(this.#database, chain.id)),
    });
  }
}

/** Another node put down that the due time does not run. Its word stands: there is one for each. */
const settled: AdmissionDecision = {
  kind: "skip",
  outcome: {
    code: "overlap",
    message: "This due time was settled before.",
    hint: "`herdctl schedules history` shows what became of it.",
  } satisfies Outcome,
};

function decided({ chain }: NewJob, decision: AdmissionDecision): Partial<NewJob> {
  if (decision.kind === "skip") return { skipped: decision.outcome };
  return chain && decision.maxUsd !== undefined
    ? { chain: { ...chain, max_usd: decision.maxUsd } }
    : {};
}
