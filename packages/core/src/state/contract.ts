import type { Approval, ApprovalRequest, Word } from "./approval.ts";
import type { ChainSpent } from "./chain.ts";
import type {
  ChatMessage,
  ChatMessageChange,
  ChatPost,
  Conversation,
  ConversationChange,
  NewChatMessage,
  Platform,
} from "./chat.ts";
import type { CostQuery, DayCost } from "./cost.ts";
import type { Delivery, DeliveryWithBody, NewDelivery, WantedDelivery } from "./delivery.ts";
import type { DueRecord, MarkedSchedule, ScheduleName } from "./due-time.ts";
import type { HandOutDecider, HandOutDecision } from "./hand-out.ts";
import type { CalledHook, HookEnd, HookRun } from "./hook-run.ts";
import type { Attempt, AttemptEnd, Job, JobChange, LiveJob, NewJob, Place } from "./job.ts";
import type { JobStatus } from "./job-status.ts";
import type { ChangedInterval, NewOneShot, OneShot } from "./one-shot.ts";
import type { Outcome, OutcomeCode } from "./outcome.ts";
import type { Pause, PauseSubject } from "./pause.ts";
import type { LeaseAnswer, LeaseHolder, Session, SessionInfo } from "./session.ts";
import type { Amounts, Day, Spending } from "./spending.ts";
import type { NewWorkClaim, WorkClaim, WorkClaimChange } from "./work-claim.ts";

/*
 * What the rest of the engine may ask of the state. Each call is one transaction, or a part of one
 * that is kept or undone as a whole, and durable when its promise resolves; a call that must read
 * before it writes does both inside. The promises are for stores that lie across a network, and for
 * admissions and deliveries, which share the wait for the disk; else SQLite answers at once.
 */

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
   * of its session is recorded with it in any case.
   */
  endAttempt(
    id: string,
    number: number,
    end: AttemptEnd,
    change?: JobChange,
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

/** A job that asks to be admitted. */
export interface Application {
  job: NewJob;
  decide: AdmissionDecider;
  /** The due time that brought it: its record in the ledger is made together with the job. */
  due?: { due_at: string; through: string };
  /** The delivery that brought it, recorded together with the job. */
  delivery?: WantedDelivery;
  /** The day whose spending the decider wants to know. */
  day?: Day;
  /** The decider looks at what is live: of a busy webhook there may be thousands. */
  wantsLive?: boolean;
}

/** Called within the transaction: it must be quick and pure. */
export type AdmissionDecider = (snapshot: AdmissionSnapshot) => AdmissionDecision;

export interface AdmissionSnapshot {
  /** What is live of the job's agent and schedule, if the application wants it and has a schedule. */
  live: readonly LiveJob[];
  spending?: Spending;
  /** Of the chain that the job would be part of; nothing when it would begin one. */
  chain?: ChainSpent;
}

export type AdmissionDecision =
  | {
      kind: "accept";
      cancel: string[];
      /** What its runs may cost at most. */
      maxUsd?: number;
    }
  | { kind: "skip"; outcome: Outcome };

export interface Admitted {
  job: Job;
  /** False when the key had been seen before: this is the first job's record. */
  created: boolean;
  /** Jobs that have to make way for this one. */
  cancel: string[];
  /** The record of the delivery that brought it. */
  delivery?: Delivery;
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

export interface SessionStore {
  save(info: SessionInfo): Promise<Session>;
  get(sessionId: string): Promise<Session | undefined>;
  /**
   * The one used last, expired or not: of the agent, or of those that are a schedule's own. Those of
   * conversations in a chat are nobody else's.
   */
  latest(agent: string, place: Place, ownOf?: string | null): Promise<Session | undefined>;
  /** The one used last first. */
  list(query?: { agent?: string }): Promise<Session[]>;
  /**
   * One writer a session. Granted when it is free, when the same holder renews, and when its
   * holder is dead or let the time run out. Sessions we did not make can be leased too.
   */
  lease(sessionId: string, holder: LeaseHolder, until: Date): Promise<LeaseAnswer>;
  /** False when someone else holds it by now. */
  release(sessionId: string, holder: LeaseHolder): Promise<boolean>;
}

export interface ApprovalStore {
  ask(request: ApprovalRequest): Promise<Approval>;
  get(id: string): Promise<Approval | undefined>;
  /** Unanswered ones, oldest first. */
  open(jobId?: string): Promise<Approval[]>;
  /** All that was ever asked in this job, oldest first. */
  ofJob(jobId: string): Promise<Approval[]>;
  /** The one that stands for this request, open or answered. */
  ofRequest(jobId: string, requestId: string): Promise<Approval | undefined>;
  /**
   * Applied once, in time, while the attempt lives; else the approval as it stands. Rejects a word
   * that does not fit what was asked.
   */
  answer(
    id: string,
    word: Word,
    by: string,
    reason?: string,
  ): Promise<{ applied: boolean; approval: Approval }>;
  /** Spends an allow or a reply: true exactly once for each. */
  use(id: string): Promise<boolean>;
  /** Spends what an earlier attempt of this job got for the identical request but did not use. */
  useEarlier(jobId: string, tool: string, input: unknown): Promise<Approval | undefined>;
  /** Marks what nobody answered in time, with its default if it has one, and returns it. */
  expire(): Promise<Approval[]>;
  /** Unanswered requests of an attempt that died. */
  voidAttempt(jobId: string, attempt: number): Promise<Approval[]>;
}

export interface PauseStore {
  /** True only when it was not paused yet: a first pause stands until it is lifted. */
  pause(subject: PauseSubject, reason: Pause["reason"], message: string): Promise<boolean>;
  /** False when it was not paused. */
  lift(subject: PauseSubject): Promise<boolean>;
  /** The oldest first. */
  list(): Promise<Pause[]>;
}

export interface DeliveryStore {
  /** With a key seen before: the first one, counted once more, and its job if it has none yet. */
  record(delivery: NewDelivery): Promise<Delivery>;
  get(id: string): Promise<DeliveryWithBody | undefined>;
  /** Newest first, a few at most: ids that begin so, or whose random part does. */
  findByPrefix(prefix: string): Promise<Delivery[]>;
  /** Newest first. */
  list(query: DeliveryQuery): Promise<DeliveryPage>;
  /** Deletes what need not be kept, some at a time, and says how many. */
  prune(retention: DeliveryRetention): Promise<number>;
}

export interface DeliveryQuery {
  agent?: string;
  limit: number;
  cursor?: number;
}

export interface DeliveryPage {
  deliveries: Delivery[];
  next: number | null;
}

export interface DeliveryRetention {
  receivedBefore: Date;
  /** Only so many of the newest stay. */
  keep: number;
  /** At most so many in this call. */
  limit: number;
}

/** The end of a job and the fact that its hooks are still to be decided on are one transaction. */
export interface HookStore {
  /** Finished jobs whose hooks nobody has decided on yet, the first to finish first. */
  undecided(): Promise<string[]>;
  /** Makes due what each job calls for, once: a job that was decided on gives nothing more. */
  decide(called: ReadonlyMap<string, readonly CalledHook[]>): Promise<HookRun[]>;
  /** All that are due or running, the oldest first. */
  open(): Promise<HookRun[]>;
  get(id: string): Promise<HookRun | undefined>;
  /** Newest first. */
  list(query: HookQuery): Promise<HookRun[]>;
  /** Counts an attempt. Undefined when it is not due. */
  begin(id: string): Promise<HookRun | undefined>;
  end(id: string, end: HookEnd): Promise<HookRun>;
  /** Makes one that was given up due once more. */
  retry(id: string): Promise<HookRun>;
}

export interface HookQuery {
  jobId?: string;
  status?: HookRun["status"];
  limit: number;
}

export interface WorkStore {
  /** Undefined when the item is in this fleet's hands already. */
  intend(claim: NewWorkClaim): Promise<WorkClaim | undefined>;
  change(id: string, change: WorkClaimChange): Promise<WorkClaim>;
  /** What is claimed, or was about to be, the oldest first. */
  open(): Promise<WorkClaim[]>;
  /** How often this fleet worked on the item without success. */
  failures(source: string, item: string): Promise<number>;
  forJob(jobId: string): Promise<WorkClaim | undefined>;
}

export interface ScheduleStore {
  /** Every schedule whose due times are counted. */
  marks(): Promise<MarkedSchedule[]>;
  mark(name: ScheduleName): Promise<MarkedSchedule | undefined>;
  /** Ends plans and begins others, all at once; false when another configuration is in force. */
  change(change: PlanChange, now: Date): Promise<boolean>;
  /**
   * Puts down what became of due times that no job came of. Returns what it put down: one that has a
   * record already, as another node settled it, keeps that.
   */
  record(records: readonly SettledDue[]): Promise<DueRecord[]>;
  /** The clock was set back: what was put down as missed for a time after this is open again. */
  reopen(name: ScheduleName, now: Date): Promise<void>;
  /** The ledger, the latest due time first. */
  history(query: DueQuery): Promise<DuePage>;
  /** Deletes records of due times that were settled before this, some at a time, and says how many. */
  prune(settledBefore: Date, limit: number): Promise<number>;
  /** What people have switched on or off; what they have not is as the configuration says. */
  switches(): Promise<(ScheduleName & { enabled: boolean })[]>;
  switchTo(name: ScheduleName, enabled: boolean): Promise<void>;
  /** Runs that agents have planned and that have not come due, the soonest first. */
  oneShots(): Promise<OneShot[]>;
  /** With a key seen before: the first one, and nothing new. */
  planOnce(oneShot: NewOneShot): Promise<OneShot>;
  /** Intervals that hold in place of what the configuration says. */
  intervals(): Promise<ChangedInterval[]>;
  changeInterval(interval: ChangedInterval): Promise<void>;
  /** Takes back a planned run or a changed interval; false when there is neither. */
  takeBack(name: ScheduleName): Promise<boolean>;
}

/** What a configuration makes of the plans that are on record. */
export interface PlanChange {
  /** As they were read, with what is put down of their due times; what is another by now stays. */
  ended: readonly { mark: ScheduleName & { plan: unknown }; missed: readonly SettledDue[] }[];
  /** Their due times count from now on, in place of an earlier plan of the schedule. */
  begun: readonly (ScheduleName & { plan: unknown })[];
  /** Print of the configuration that it comes from, where nodes share the state. */
  config?: string;
}

/** `through` is how far the schedule is settled with it. */
export type SettledDue = Omit<DueRecord, "settled_at" | "job_id"> & { through: string };

export interface DueQuery {
  agent?: string;
  schedule?: string;
  limit: number;
  cursor?: string;
}

export interface DuePage {
  records: DueRecord[];
  next: string | null;
}

export interface BudgetStore {
  spending(day: Day): Promise<Spending>;
  /** Adds to what was raised before; without an agent for the whole fleet. */
  raise(day: Day, agent: string | undefined, by: Partial<Amounts>): Promise<void>;
  /** What runs that ended on these days cost, the earliest day first. */
  costs(query: CostQuery): Promise<DayCost[]>;
}

export interface ChatStore {
  /** Up to when an agent has heard what was said to it; from now on when it never listened before. */
  heardUntil(agent: string, platform: Platform): Promise<Date>;
  /** All that was said to an agent until then has come. */
  heard(agent: string, platform: Platform, until: Date): Promise<void>;
  /** Puts a message into its conversation; a message that was seen before is the first one. */
  take(
    message: NewChatMessage,
    status?: ChatMessage["status"],
  ): Promise<{ message: ChatMessage; created: boolean }>;
  conversation(id: string): Promise<Conversation | undefined>;
  conversationByKey(key: string): Promise<Conversation | undefined>;
  /** The conversation of a room, begun if nothing was said there before. */
  openConversation(
    key: string,
    of: Pick<Conversation, "agent" | "platform" | "room">,
  ): Promise<Conversation>;
  /** The one used last first. */
  conversations(): Promise<Conversation[]>;
  changeConversation(id: string, change: ConversationChange): Promise<Conversation>;
  /** All that is not answered yet, in the order in which it was said. */
  open(): Promise<ChatMessage[]>;
  ofJob(jobId: string): Promise<ChatMessage | undefined>;
  changeMessage(id: string, change: ChatMessageChange): Promise<ChatMessage>;
  /** Puts down that something is about to be posted; not the first time when it was before. */
  beginPost(message: string, subject: string): Promise<{ post: ChatPost; first: boolean }>;
  endPost(nonce: string, postedId: string): Promise<ChatPost>;
  posts(message: string): Promise<ChatPost[]>;
  /** Deletes what was answered before this, some at a time, and says how much. */
  prune(before: Date, limit: number): Promise<number>;
}
