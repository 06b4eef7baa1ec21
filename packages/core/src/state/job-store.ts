import type { Admitted, Application } from "./admission.ts";
import type { HandOutDecider, HandOutDecision } from "./hand-out.ts";
import type { Attempt, AttemptEnd, Job, JobChange, LiveJob, NewJob } from "./job.ts";
import type { JobStatus } from "./job-status.ts";
import type { OutcomeCode } from "./outcome.ts";
import type { LeaseHolder, SessionInfo } from "./session.ts";

export interface JobStore {
  /** With an idempotency key seen before: the first job, and nothing new. */
  create(job: NewJob): Promise<{ job: Job; created: boolean }>;
  /** The same, but asks first; a refusal is recorded as `skipped`. */
  admit(application: Application): Promise<Admitted>;
  /** Several in one transaction, in this order; each sees those before it. */
  admitAll(applications: readonly Application[]): Promise<Admitted[]>;
  get(id: string): Promise<Job | undefined>;
  findByKey(idempotencyKey: string): Promise<Job | undefined>;
  /** Newest first, a few at most: ids that begin so, or whose random part does. */
  findByPrefix(prefix: string): Promise<Job[]>;
  /** Newest first. */
  list(query: JobQuery): Promise<JobPage>;
  /** Of an agent, the one that ended last. */
  lastEnded(agent: string): Promise<Job | undefined>;
  /** Oldest first: all that is pending, running or waiting. */
  unfinished(): Promise<Job[]>;
  /** All jobs of the chain that begins with this one, the oldest first. */
  chain(firstId: string): Promise<Job[]>;
  /** The same in short: read from an index alone, whatever the number of finished jobs. */
  snapshot(): Promise<LiveJob[]>;
  update(id: string, change: JobChange): Promise<JobUpdate>;
  /**
   * Counts the attempt and sets the job running, and leases the session that nobody else can hold
   * or that its holder has leased before. Not applied to a finished job, nor to one that is not
   * assigned to `by`; what is begun is no longer assigned.
   */
  startAttempt(
    id: string,
    change?: Omit<JobChange, "status">,
    lease?: LeaseTerms,
    by?: Assignee,
  ): Promise<JobUpdate>;
  /**
   * What an attempt came to and what becomes of its job, in one step: no job is left running
   * without an attempt. Its cost, usage and crash are added to the job's. Not applied when that
   * attempt had already ended: what was said first stands, and nothing is added twice. What became
   * of its session is recorded with it in any case. A change may depend on the record as it is then.
   */
  endAttempt(
    id: string,
    number: number,
    end: AttemptEnd,
    change?: JobChange | ((job: Job) => JobChange),
    session?: SessionEnd,
  ): Promise<JobUpdate>;
  attempts(id: string): Promise<Attempt[]>;
  /**
   * Has somebody decide in one transaction which node gets which job, and puts it down. A `look` is
   * the same, but changes nothing. Only where nodes share the store.
   */
  handOut(decide: HandOutDecider, how: "look" | "write"): Promise<HandOutDecision>;
  /** Deletes finished jobs that need not be kept, some at a time, and returns their ids. */
  prune(retention: Retention): Promise<string[]>;
}

/** A node, and as of which of its joins. */
export interface Assignee {
  node: string;
  epoch: number;
}

export interface LeaseTerms {
  sessionId: string;
  holder: LeaseHolder;
  until: Date;
  /** Who holds it for the holder by now, and lets go of it. */
  from?: LeaseHolder;
}

/** The lease is given back; `saved` is what is known of a session that was opened. */
export interface SessionEnd {
  sessionId: string;
  holder: LeaseHolder;
  saved?: SessionInfo;
}

export interface Retention {
  /** What finished before this goes. */
  finishedBefore?: Date;
  /** Only so many finished jobs of an agent stay. Those of the last day do, so that costs add up. */
  keepPerAgent?: number;
  /** At most so many in this call: less came back when all is done. */
  limit: number;
}

/** A finished job never changes: a later change is not applied, and told so. */
export type JobUpdate = { applied: boolean; job: Job };

export interface JobQuery {
  agent?: string;
  status?: JobStatus;
  outcome?: OutcomeCode;
  /** Looked for among the jobs that the rest of the query leaves. */
  schedule?: string;
  /** The session that they ran in. */
  session?: string;
  since?: Date;
  until?: Date;
  limit: number;
  cursor?: string;
}

export interface JobPage {
  jobs: Job[];
  /** The cursor of the page after this one; null at the end. */
  next: string | null;
}
