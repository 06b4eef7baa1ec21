import type {
  Attempt,
  AttemptResult,
  Job,
  JobChange,
  JobPage,
  JobQuery,
  NewJob,
  SessionInfo,
  SessionLeaseHolder,
  UnfinishedJob,
} from "@herdctl/protocol";
import type { AdmissionRequest, AdmissionResult } from "../model/admission.ts";
import type { AssignmentDecider, AssignmentDecision } from "../model/assignment.ts";

export interface JobStore {
  /** With a known idempotency key, returns the first job and creates nothing. */
  create(job: NewJob): Promise<{ job: Job; created: boolean }>;
  /** Like `create`, but `decide` is called first. A refusal is recorded as `skipped`. */
  admit(request: AdmissionRequest): Promise<AdmissionResult>;
  /** Admits several jobs in one transaction, in this order; each sees those before it. */
  admitAll(requests: readonly AdmissionRequest[]): Promise<AdmissionResult[]>;
  get(id: string): Promise<Job | undefined>;
  findByKey(idempotencyKey: string): Promise<Job | undefined>;
  /** Newest first, at most a few: ids that start with the prefix, or whose random part does. */
  findByPrefix(prefix: string): Promise<Job[]>;
  /** Newest first. */
  list(query: JobQuery): Promise<JobPage>;
  /** The job of an agent that ended last. */
  lastFinished(agent: string): Promise<Job | undefined>;
  /** All pending, running and waiting jobs, oldest first. */
  listUnfinished(): Promise<Job[]>;
  /** All jobs of the chain that starts with this job, oldest first. */
  listChain(firstId: string): Promise<Job[]>;
  /**
   * Short form of the unfinished jobs, read from an index only, however many jobs have finished.
   */
  listLive(): Promise<UnfinishedJob[]>;
  update(id: string, change: JobChange): Promise<JobUpdateResult>;
  /**
   * Counts the attempt, sets the job to running, and takes the session lease if it is free or held
   * by the same holder. Not applied to a finished job, or to a job that is not assigned to
   * `assignee`. A started job is no longer assigned.
   */
  startAttempt(
    id: string,
    change?: Omit<JobChange, "status">,
    lease?: LeaseTerms,
    assignee?: Assignee,
  ): Promise<JobUpdateResult>;
  /**
   * Records the result of an attempt and the change of its job in one step, so that no job stays
   * running without an attempt. Cost, usage and crash are added to the job. Not applied if the
   * attempt has already ended: the first result stays, and nothing is added twice. The session is
   * recorded in any case. A change may depend on the current record.
   */
  endAttempt(
    id: string,
    number: number,
    end: AttemptResult,
    change?: JobChange | ((job: Job) => JobChange),
    session?: SessionEnd,
  ): Promise<JobUpdateResult>;
  listAttempts(id: string): Promise<Attempt[]>;
  /**
   * Calls `decide` in one transaction to assign jobs to nodes, and records the result. `look` does
   * the same without writing. Only for stores that nodes share.
   */
  assign(decide: AssignmentDecider, mode: "look" | "write"): Promise<AssignmentDecision>;
  /** Deletes finished jobs that need not be kept, some at a time, and returns their ids. */
  prune(retention: JobRetention): Promise<string[]>;
}

/** A node and its epoch. */
export interface Assignee {
  node: string;
  epoch: number;
}

export interface LeaseTerms {
  sessionId: string;
  holder: SessionLeaseHolder;
  until: Date;
  /** The current holder, which releases the lease for the new holder. */
  previousHolder?: SessionLeaseHolder;
}

/** Releases the lease, and records `sessionInfo` if the session was opened. */
export interface SessionEnd {
  sessionId: string;
  holder: SessionLeaseHolder;
  sessionInfo?: SessionInfo;
}

export interface JobRetention {
  /** Jobs that finished before this are deleted. */
  finishedBefore?: Date;
  /**
   * Maximum number of finished jobs per agent. Jobs of the last day are kept, so that daily costs
   * are complete.
   */
  keepPerAgent?: number;
  /** Maximum number of jobs per call. A smaller result means that none are left. */
  limit: number;
}

/** A finished job never changes: later changes are not applied. */
export type JobUpdateResult = { applied: boolean; job: Job };
