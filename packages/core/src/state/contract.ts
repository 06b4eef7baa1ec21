import type { Approval, ApprovalRequest, Word } from "./approval.ts";
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
import type { Delivery, DeliveryWithBody, NewDelivery } from "./delivery.ts";
import type { CalledHook, HookEnd, HookRun } from "./hook-run.ts";
import type { Place } from "./job.ts";
import type { Pause, PauseSubject } from "./pause.ts";
import type { LeaseAnswer, LeaseHolder, Session, SessionInfo } from "./session.ts";
import type { Amounts, Day, Spending } from "./spending.ts";
import type { NewWorkClaim, WorkClaim, WorkClaimChange } from "./work-claim.ts";

/*
 * What the rest of the engine may ask of the state, here and in job-store.ts and schedule-store.ts.
 * Each call is one transaction, or a part of one that is kept or undone as a whole, and durable when
 * its promise resolves; a call that must read before it writes does both inside. The promises are
 * for stores that lie across a network, and for admissions and deliveries, which share the wait for
 * the disk; else SQLite answers at once.
 */

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
   * that does not fit what was asked. `by` is an identity; `note` is what the caller calls itself.
   */
  answer(
    id: string,
    word: Word,
    by: string,
    reason?: string,
    note?: string,
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
