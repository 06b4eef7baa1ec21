import type { ClaudeMessage } from "../events/claude-message.ts";
import type { AccessToken } from "../records/access-token.ts";
import type { Approval, ApprovalDecision } from "../records/approval.ts";
import type { Artifact } from "../records/artifact.ts";
import type { AuditPage, AuditQuery } from "../records/audit.ts";
import type { Delivery, DeliveryWithBody } from "../records/delivery.ts";
import type { DueTimeRecord, ScheduleRef } from "../records/due-time.ts";
import type { HookRun } from "../records/hook-run.ts";
import type { Attempt, Job } from "../records/job.ts";
import type { Login } from "../records/login.ts";
import type { PermissionRule } from "../records/permission-rule.ts";
import type { NewPushSubscription, PushSubscriptionRecord } from "../records/push-subscription.ts";
import type { BudgetAmounts } from "../records/spending.ts";
import type { CreatedToken, NewAccessToken } from "./access-tokens.ts";
import type { BudgetView } from "./budget.ts";
import type { ChatConnectionStatus } from "./chat.ts";
import type { ApplyEditOptions, ConfigEdit, ConfigEditPreview } from "./config-edit.ts";
import type { ConfigView } from "./configuration.ts";
import type { CostQuery, CostView } from "./costs.ts";
import type { DeliveryPage, DeliveryQuery, HookQuery, RefusalCount } from "./deliveries.ts";
import type { JobPage, JobQuery } from "./jobs.ts";
import type { NodeView } from "./nodes.ts";
import type { Note } from "./notes.ts";
import type { RewindOptions, RewindPoint, RewindResult } from "./rewind.ts";
import type { DueTimePage, DueTimeQuery, ScheduleView } from "./schedules.ts";
import type { JobSearchPage, JobSearchQuery } from "./search.ts";
import type { SessionView } from "./sessions.ts";
import type { Admission, TriggerRequest } from "./trigger.ts";

/**
 * All operations of a fleet, grouped by subject. Implemented by the fleet itself and by the client
 * that connects to it, so that programs work with either. Records are as they are stored and sent,
 * with fields in snake case; parameters and options are in camel case.
 */
export interface FleetControl extends AsyncDisposable {
  readonly jobs: JobsApi;
  readonly artifacts: ArtifactsApi;
  readonly sessions: SessionsApi;
  readonly approvals: ApprovalsApi;
  readonly rules: RulesApi;
  readonly push: PushApi;
  readonly agents: AgentsApi;
  readonly notes: NotesApi;
  readonly schedules: SchedulesApi;
  readonly deliveries: DeliveriesApi;
  readonly hooks: HooksApi;
  readonly budget: BudgetApi;
  readonly costs: CostsApi;
  readonly config: ConfigApi;
  readonly chat: ChatApi;
  readonly nodes: NodesApi;
  readonly tokens: TokensApi;
  readonly logins: LoginsApi;
  readonly audit: AuditApi;
  /** The current state of the fleet and its agents. */
  status(): Promise<FleetStatus>;
  /** Reads the configuration again, on all nodes. An invalid one changes nothing. */
  reload(): Promise<void>;
  /** Drains, then cancels the remaining jobs. `detach` leaves running jobs to the next process. */
  shutdown(options?: ShutdownOptions): Promise<void>;
  /** All events from now on, until the signal is aborted or the fleet has stopped. */
  events(options?: SignalOptions): AsyncIterable<FleetEvent>;
  /** Calls the listener with each event of a type. Returns a function that unsubscribes. */
  on<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): () => void;
  /** Calls the listener with the next event of a type. Returns a function that unsubscribes. */
  once<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): () => void;
  /** Unsubscribes a listener of `on` or `once`. */
  off<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): void;
}

export interface JobsApi {
  /** Resolves as soon as the job is stored durably. */
  trigger(request: TriggerRequest): Promise<Admission>;
  /** Undefined if there is no such job. */
  get(jobId: string): Promise<JobWithAttempts | undefined>;
  /** Newest first. */
  list(query?: JobQuery): Promise<JobPage>;
  /** Searches the prompts, summaries and outputs of all jobs that ran, newest first. */
  search(query: JobSearchQuery): Promise<JobSearchPage>;
  /** All jobs of this job's chain, oldest first. */
  chain(jobId: string): Promise<Job[]>;
  /** Resolves with the finished job. */
  wait(jobId: string, options?: SignalOptions): Promise<Job>;
  /** Runs the prompt of a finished job again, in its session or in a new one. */
  retry(jobId: string, options?: RetryOptions): Promise<Admission>;
  /** Ends the wait of a job for a limit or its next attempt. */
  tryNow(jobId: string): Promise<Job>;
  /**
   * Ends a pending job immediately and asks a running one to stop; `force` kills it instead. Also
   * cancels the jobs that were delegated from it.
   */
  cancel(jobId: string, options?: CancelOptions): Promise<Job>;
  /** Cancels all unfinished jobs of an agent, and the jobs that were delegated from them. */
  cancelAll(options: CancelAllOptions): Promise<CancelAllResult>;
  /** The messages of the job's session to which its files can be restored, oldest first. */
  rewindPoints(jobId: string): Promise<RewindPoint[]>;
  /**
   * Restores the files that Claude Code's tools changed to what they were before a message. Changes by
   * commands stay. Refused while a job uses the session or its folder.
   */
  rewind(jobId: string, options?: RewindOptions): Promise<RewindResult>;
  /** The messages of a job from a byte offset. With `follow`, continues until the job has ended. */
  output(jobId: string, options?: OutputOptions): AsyncIterable<JobOutput>;
}

/** The files that jobs kept. */
export interface ArtifactsApi {
  /** Name, size and type of each file. */
  list(jobId: string): Promise<Artifact[]>;
  /** The content of a file; undefined if there is no such file. */
  read(jobId: string, name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
}

export interface SessionsApi {
  /** Most recently used first. */
  list(query?: { agent?: string }): Promise<SessionView[]>;
  /** Resumes a session, given its ID or the ID of a job that ran in it. */
  resume(sessionOrJob: string, prompt: string): Promise<Admission>;
  /** Starts a new session as a copy of this one, up to and including the message `forkPoint`. */
  fork(sessionOrJob: string, prompt: string, options?: { forkPoint?: string }): Promise<Admission>;
}

export interface ApprovalsApi {
  /** Pending permission requests and questions. With `job`, also the answered ones of that job. */
  list(query?: { job?: string }): Promise<Approval[]>;
  /**
   * Allows or denies a tool, or answers a question; `deny` declines the question. `{ allow: "job" }`
   * and `{ allow: "always" }` write a rule, so that the agent does not ask again.
   */
  answer(
    approvalId: string,
    decision: ApprovalDecision,
    options?: AnswerOptions,
  ): Promise<Approval>;
}

/** Permissions that people gave for more than one call. */
export interface RulesApi {
  /** Oldest first. */
  list(query?: { agent?: string }): Promise<PermissionRule[]>;
  /** Revokes a rule, from the next run on. */
  remove(ruleId: string): Promise<PermissionRule>;
}

/** Notifications of questions and permission requests in browsers (Web Push). */
export interface PushApi {
  /** The key with which a browser subscribes, in base64url. */
  publicKey(): Promise<string>;
  /** Notifies this browser until the login or token of the caller ends. */
  subscribe(subscription: NewPushSubscription): Promise<PushSubscriptionInfo>;
  /** Ends a subscription of the caller. */
  unsubscribe(subscriptionId: string): Promise<void>;
}

/** The rest of a subscription stays secret. */
export type PushSubscriptionInfo = Pick<PushSubscriptionRecord, "id" | "created_at">;

export interface AgentsApi {
  /** All agents of the fleet with their activity. */
  list(): Promise<AgentStatus[]>;
  /** Undefined if there is no such agent. */
  get(agent: string): Promise<AgentStatus | undefined>;
  /** Starts no new jobs of the agent; running jobs continue. */
  pause(agent: string): Promise<void>;
  /** Ends the pause. Also resumes the agent's credential, which other agents may share. */
  resume(agent: string): Promise<void>;
}

/** The notes that agents wrote for their later sessions. */
export interface NotesApi {
  /** The names of an agent's notes, without their texts. */
  list(agent: string): Promise<Note[]>;
  /** The text of a note; undefined if there is no such note. */
  read(agent: string, name: string): Promise<string | undefined>;
}

export interface SchedulesApi {
  /** All schedules with their next due times and the result of the last one. */
  list(): Promise<ScheduleView[]>;
  /** The ledger of due times, latest first. */
  dueTimes(query?: DueTimeQuery): Promise<DueTimePage>;
  /** Switches a schedule on. Overrides `enabled` in the configuration, also after restarts. */
  enable(schedule: ScheduleRef): Promise<ScheduleView>;
  /** Switches a schedule off. Overrides `enabled` in the configuration, also after restarts. */
  disable(schedule: ScheduleRef): Promise<ScheduleView>;
  /** Removes a run or an interval that an agent scheduled for itself. */
  remove(schedule: ScheduleRef): Promise<void>;
}

/** Deliveries of webhooks. */
export interface DeliveriesApi {
  /** Newest first. */
  list(query?: DeliveryQuery): Promise<DeliveryListView>;
  /** Undefined if there is no such delivery. */
  get(deliveryId: string): Promise<DeliveryWithBody | undefined>;
  /** Processes a delivery again as if it had just arrived; creates a new job. */
  replay(deliveryId: string): Promise<Delivery>;
}

/** Hook runs of finished jobs. */
export interface HooksApi {
  /** Newest first. */
  list(query?: HookQuery): Promise<HookRun[]>;
  /** Retries a failed hook run. */
  retry(hookRunId: string): Promise<HookRun>;
}

export interface BudgetApi {
  /** Today's limits and spending. */
  get(): Promise<BudgetView>;
  /** Raises limits of the agent, or of the fleet, for today. */
  raise(increase: BudgetIncrease): Promise<BudgetView>;
}

export interface CostsApi {
  /** The cost of runs by day, and by agent, schedule or model. */
  get(query?: CostQuery): Promise<CostView>;
}

export interface ConfigApi {
  /** The current configuration, each value with its origin, with secrets masked. */
  get(): Promise<ConfigView>;
  /** What an edit would write, checked like the files. Writes nothing. */
  preview(edit: ConfigEdit): Promise<ConfigEditPreview>;
  /** Writes an edit and reloads. Refused if the file no longer has this fingerprint. */
  edit(edit: ConfigEdit, options: ApplyEditOptions): Promise<ConfigEditPreview>;
}

export interface ChatApi {
  /** The connection of each agent to each of its chat platforms. */
  connections(): Promise<ChatConnectionStatus[]>;
}

export interface NodesApi {
  /** The nodes in the order in which they joined; without a shared store, only this one. */
  list(): Promise<NodeView[]>;
}

/** Named tokens for the API. */
export interface TokensApi {
  /** Without their secrets. */
  list(): Promise<AccessToken[]>;
  /** The secret of the token is only in this result. */
  create(token: NewAccessToken): Promise<CreatedToken>;
  /** Ends a token immediately. */
  revoke(name: string): Promise<void>;
}

/** Signed-in browsers. */
export interface LoginsApi {
  /** Newest first. */
  list(): Promise<Login[]>;
  /** Signs out a browser, given its ID or the part of the ID that identities show. */
  end(loginId: string): Promise<void>;
  /** Signs out every browser; returns how many there were. */
  endAll(): Promise<number>;
}

export interface AuditApi {
  /** Newest first. */
  list(query?: AuditQuery): Promise<AuditPage>;
}

export interface SignalOptions {
  signal?: AbortSignal;
}

export interface JobWithAttempts {
  job: Job;
  attempts: Attempt[];
}

export interface RetryOptions {
  /** Start a new session instead of resuming the session of the job. */
  fresh?: boolean;
}

export interface CancelOptions {
  force?: boolean;
}

export interface CancelAllOptions extends CancelOptions {
  agent: string;
}

export interface CancelAllResult {
  /** Jobs that have ended. */
  cancelled: number;
  /** Jobs that were asked to stop and have not ended yet. */
  stopping: number;
}

export interface AnswerOptions {
  /** A name that the caller gives itself, recorded with its identity. */
  note?: string;
  /** Given to the agent with a denial. */
  reason?: string;
}

/** `agent`: raise the limits of this agent instead of the fleet's. */
export interface BudgetIncrease extends Partial<BudgetAmounts> {
  agent?: string;
}

export interface OutputOptions extends SignalOptions {
  /** Byte offset of the first message. */
  from?: number;
  /** Continue until the job has ended, or until `signal` is aborted. */
  follow?: boolean;
}

export interface JobOutput {
  message: ClaudeMessage;
  /** Byte offset of the next message. */
  offset: number;
}

export interface DeliveryListView extends DeliveryPage {
  /** Refused deliveries since the fleet started, by reason. */
  refused: RefusalCount[];
}

export interface ShutdownOptions {
  drainMs?: number;
  detach?: boolean;
}

export interface FleetStatus {
  fleet: {
    name: string;
    file: string;
    pid: number;
    version: string;
    started_at: string;
    state: "starting" | "running" | "draining" | "refusing";
    /** Why new jobs are refused, or what is wrong with the configuration on disk. */
    problem: string | null;
    pending: number;
    running: number;
    waiting: number;
    /** The number of jobs that run at the same time. */
    max_concurrent: number;
    cost_today_usd: number;
    /** Address of the dashboard; null while the HTTP server is not listening. */
    url: string | null;
    /** Whether the fleet has a shared store. */
    shared: boolean;
  };
  agents: AgentStatus[];
}

export interface AgentStatus {
  name: string;
  description: string | null;
  /** For grouping. */
  labels: string[];
  runtime: "sdk" | "cli";
  docker: boolean;
  paused: { reason: string; since: string } | null;
  pending: number;
  waiting: number;
  max_concurrent: number;
  /** `node` is the name of the job's node, in a fleet with a shared store. */
  running: { job_id: string; started_at: string; activity: string; node?: string | null }[];
  schedules: { name: string; type: string; enabled: boolean }[];
  /** The job that ended last, without skipped ones. */
  last_job: { id: string; outcome: string | null; finished_at: string | null } | null;
  /** The next due time of its schedules. */
  next_due: { schedule: string; due_at: string } | null;
  cost_today_usd: number;
}

/** All events of a fleet, with the time at which they happened. */
export type FleetEvent = FleetEventDetails & { at: string };

export type FleetEventDetails =
  | { type: "job:created"; job: Job }
  | { type: "job:started"; job: Job }
  | { type: "job:output"; job_id: string; agent: string; message: ClaudeMessage; offset: number }
  | { type: "job:waiting"; job: Job }
  | { type: "job:completed"; job: Job }
  | { type: "job:failed"; job: Job }
  | { type: "job:cancelled"; job: Job }
  | { type: "job:skipped"; job: Job }
  | { type: "approval:requested"; approval: Approval }
  | { type: "approval:answered"; approval: Approval }
  | { type: "hook:attempted"; hook: HookRun }
  | { type: "delivery:received"; delivery: Delivery }
  | { type: "schedule:not_run"; due: DueTimeRecord }
  | { type: "schedule:toggled"; agent: string; schedule: string; enabled: boolean }
  | { type: "agent:paused"; agent: string; reason: string }
  | { type: "agent:resumed"; agent: string }
  | { type: "fleet:reloaded"; agents: string[] }
  | { type: "fleet:problem"; message: string }
  | { type: "fleet:stopping" };

export type FleetEventType = FleetEvent["type"];
export type FleetEventOf<T extends FleetEventType> = Extract<FleetEvent, { type: T }>;
export type FleetEventListener<T extends FleetEventType> = (event: FleetEventOf<T>) => void;
