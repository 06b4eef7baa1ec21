import type {
  AcceptedDelivery,
  BudgetDay,
  ChainSpending,
  Delivery,
  FleetSpending,
  Job,
  NewJob,
  Outcome,
  UnfinishedJob,
} from "@herdctl/protocol";

export interface AdmissionRequest {
  job: NewJob;
  decide: AdmissionDecider;
  /** The due time that caused the job; its record in the ledger is made in the same transaction. */
  due?: { due_at: string; through: string };
  /** The id names a pending job, recorded without admission, that this request replaces. */
  replacesPending?: boolean;
  /** The delivery that caused the job, recorded in the same transaction. */
  delivery?: AcceptedDelivery;
  /** The day whose spending `decide` needs. */
  day?: BudgetDay;
  /** Whether `decide` needs the live jobs, of which a busy webhook may have thousands. */
  needsLiveJobs?: boolean;
}

/** Called within the transaction, so it must be fast and pure. */
export type AdmissionDecider = (snapshot: AdmissionSnapshot) => AdmissionDecision;

export interface AdmissionSnapshot {
  /** Live jobs of the job's agent and schedule, if requested and the job has a schedule. */
  liveJobs: readonly UnfinishedJob[];
  spending?: FleetSpending;
  /** Spending of the job's chain; undefined if the job starts one. */
  chain?: ChainSpending;
}

export type AdmissionDecision =
  | {
      kind: "accept";
      jobsToCancel: string[];
      /** Maximum cost of its runs. */
      maxUsd?: number;
    }
  | { kind: "skip"; outcome: Outcome };

export interface AdmissionResult {
  job: Job;
  /** False if the key was known: `job` is then the first job. */
  created: boolean;
  /** Jobs to cancel in favour of this one. */
  jobsToCancel: string[];
  /** The record of the delivery that caused the job. */
  delivery?: Delivery;
}
