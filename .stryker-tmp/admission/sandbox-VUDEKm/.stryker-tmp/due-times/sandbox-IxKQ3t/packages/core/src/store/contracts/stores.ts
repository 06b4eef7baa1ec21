import type {
  Approval,
  ApprovalDecision,
  ApprovalRequest,
  BudgetAmounts,
  BudgetDay,
  ChatMessage,
  ChatMessageChange,
  ChatPlatformName,
  ChatPost,
  Conversation,
  ConversationChange,
  Delivery,
  DeliveryPage,
  DeliveryQuery,
  DeliveryWithBody,
  FleetSpending,
  HookQuery,
  HookRun,
  HookRunEnd,
  NewChatMessage,
  NewDelivery,
  PlannedHook,
  Session,
  SessionHomeKind,
  SessionInfo,
  SessionLeaseHolder,
  SessionLeaseResult,
} from "@herdctl/protocol";
import type { CostQuery, DayCost } from "../model/cost.ts";
import type { Pause, PauseSubject } from "../model/pause.ts";
import type { NewWorkClaim, WorkClaim, WorkClaimChange } from "../model/work-claim.ts";

/*
 * The interface of the state for the rest of the engine, here and in job-store.ts and
 * schedule-store.ts. Each call is one transaction, or an atomic part of one, and durable when its
 * promise resolves. A call that reads before it writes does both inside. Calls are asynchronous for
 * stores across a network and for group commit; otherwise SQLite answers synchronously.
 */

export interface SessionStore {
  save(info: SessionInfo): Promise<Session>;
  get(sessionId: string): Promise<Session | undefined>;
  /**
   * The last used session, expired or not: of the agent, or of those that a schedule owns. Sessions
   * of chat conversations are never found.
   */
  findLatest(
    agent: string,
    sessionHome: SessionHomeKind,
    ownerSchedule?: string | null,
  ): Promise<Session | undefined>;
  /** Last used first. */
  list(query?: { agent?: string }): Promise<Session[]>;
  /**
   * A session has one writer. Granted if the session is free, if the same holder renews, or if its
   * holder is dead or out of time. Sessions that herdctl did not create can be leased, too.
   */
  lease(sessionId: string, holder: SessionLeaseHolder, until: Date): Promise<SessionLeaseResult>;
  /** False if another holder has it now. */
  release(sessionId: string, holder: SessionLeaseHolder): Promise<boolean>;
}

export interface ApprovalStore {
  create(request: ApprovalRequest): Promise<Approval>;
  get(id: string): Promise<Approval | undefined>;
  /** Unanswered approvals, oldest first. */
  listOpen(jobId?: string): Promise<Approval[]>;
  /** All approvals of a job, oldest first. */
  listByJob(jobId: string): Promise<Approval[]>;
  /** The approval for a request, open or answered. */
  findByRequest(jobId: string, requestId: string): Promise<Approval | undefined>;
  /**
   * Applied once, in time, while the attempt is live; otherwise returns the approval unchanged.
   * Rejects a decision that does not fit the request. `by` is an identity; `note` is the name that
   * the caller gives itself.
   */
  answer(
    id: string,
    decision: ApprovalDecision,
    by: string,
    reason?: string,
    note?: string,
  ): Promise<{ applied: boolean; approval: Approval }>;
  /** Consumes an allow or a reply: true exactly once for each. */
  consume(id: string): Promise<boolean>;
  /** Consumes what an earlier attempt of this job got for the identical request but did not use. */
  consumeEarlier(jobId: string, tool: string, input: unknown): Promise<Approval | undefined>;
  /**
   * Expires approvals that were not answered in time, with their default reply if they have one,
   * and returns them.
   */
  expire(): Promise<Approval[]>;
  /** Voids unanswered requests of an attempt that died. */
  voidAttempt(jobId: string, attempt: number): Promise<Approval[]>;
}

export interface PauseStore {
  /** True only if it was not paused before: the first pause stays until it is lifted. */
  pause(subject: PauseSubject, reason: Pause["reason"], message: string): Promise<boolean>;
  /** False if it was not paused. */
  lift(subject: PauseSubject): Promise<boolean>;
  /** Oldest first. */
  list(): Promise<Pause[]>;
}

export interface DeliveryStore {
  /**
   * With a known key, returns the first delivery with an increased count, and adds the job if it
   * had none.
   */
  record(delivery: NewDelivery): Promise<Delivery>;
  get(id: string): Promise<DeliveryWithBody | undefined>;
  /** Newest first, at most a few: ids that start with the prefix, or whose random part does. */
  findByPrefix(prefix: string): Promise<Delivery[]>;
  /** Newest first. */
  list(query: DeliveryQuery): Promise<DeliveryPage>;
  /** Deletes deliveries that need not be kept, some at a time. Resolves with their number. */
  prune(retention: DeliveryRetention): Promise<number>;
}

export interface DeliveryRetention {
  receivedBefore: Date;
  /** Maximum number of deliveries to keep, newest first. */
  keep: number;
  /** Maximum number of deliveries to delete per call. */
  limit: number;
}

/** The end of a job is recorded in one transaction with the fact that its hooks are undecided. */
export interface HookStore {
  /** Finished jobs whose hooks are undecided, in the order in which they finished. */
  listUndecidedJobs(): Promise<string[]>;
  /** Enqueues the hooks of each job, once: a decided job gives no more hooks. */
  enqueue(hooksByJob: ReadonlyMap<string, readonly PlannedHook[]>): Promise<HookRun[]>;
  /** All due or running hooks, oldest first. */
  listOpen(): Promise<HookRun[]>;
  get(id: string): Promise<HookRun | undefined>;
  /** Newest first. */
  list(query: HookQuery): Promise<HookRun[]>;
  /** Counts an attempt. Undefined if the hook is not due. */
  startAttempt(id: string): Promise<HookRun | undefined>;
  endAttempt(id: string, end: HookRunEnd): Promise<HookRun>;
  /** Makes a failed hook due again. */
  retry(id: string): Promise<HookRun>;
}

export interface WorkClaimStore {
  /** Undefined if this fleet already has the item. */
  createClaim(claim: NewWorkClaim): Promise<WorkClaim | undefined>;
  updateClaim(id: string, change: WorkClaimChange): Promise<WorkClaim>;
  /** Items that are claimed or about to be, oldest first. */
  listOpen(): Promise<WorkClaim[]>;
  /** Number of failed jobs of this fleet for the item. */
  countFailures(source: string, item: string): Promise<number>;
  findByJob(jobId: string): Promise<WorkClaim | undefined>;
}

export interface BudgetStore {
  getSpending(day: BudgetDay): Promise<FleetSpending>;
  /** Adds to earlier raises of the day; without an agent, for the whole fleet. */
  raise(day: BudgetDay, agent: string | undefined, amounts: Partial<BudgetAmounts>): Promise<void>;
  /** Costs of runs that ended on these days, earliest day first. */
  listCosts(query: CostQuery): Promise<DayCost[]>;
}

export interface ChatStore {
  /** The time up to which an agent has received messages; now if it never listened before. */
  getReceivedUntil(agent: string, platform: ChatPlatformName): Promise<Date>;
  /** Records that all messages up to this time have been received. */
  setReceivedUntil(agent: string, platform: ChatPlatformName, until: Date): Promise<void>;
  /** Adds a message to its conversation. For a known message, returns the first record. */
  recordMessage(
    message: NewChatMessage,
    status?: ChatMessage["status"],
  ): Promise<{ message: ChatMessage; created: boolean }>;
  getConversation(id: string): Promise<Conversation | undefined>;
  findConversationByKey(key: string): Promise<Conversation | undefined>;
  /** The conversation of a room; created if there is none. */
  getOrCreateConversation(
    key: string,
    details: Pick<Conversation, "agent" | "platform" | "room">,
  ): Promise<Conversation>;
  /** Last used first. */
  listConversations(): Promise<Conversation[]>;
  updateConversation(id: string, change: ConversationChange): Promise<Conversation>;
  /** All unanswered messages, in the order in which they were sent. */
  listOpenMessages(): Promise<ChatMessage[]>;
  findMessageByJob(jobId: string): Promise<ChatMessage | undefined>;
  updateMessage(id: string, change: ChatMessageChange): Promise<ChatMessage>;
  /** Records that a post is about to be made. `first` is false if it was recorded before. */
  beginPost(message: string, subject: string): Promise<{ post: ChatPost; first: boolean }>;
  endPost(nonce: string, postedId: string): Promise<ChatPost>;
  listPosts(message: string): Promise<ChatPost[]>;
  /**
   * Deletes messages that were answered before this, some at a time. Resolves with their number.
   */
  prune(before: Date, limit: number): Promise<number>;
}
