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
import type { BudgetAmounts } from "../records/spending.ts";
import type { CreatedToken, NewAccessToken } from "./access-tokens.ts";
import type { BudgetView } from "./budget.ts";
import type { ChatConnectionStatus } from "./chat.ts";
import type { ConfigView } from "./configuration.ts";
import type { CostQuery, CostView } from "./costs.ts";
import type { DeliveryPage, DeliveryQuery, HookQuery, RefusalCount } from "./deliveries.ts";
import type { JobPage, JobQuery } from "./jobs.ts";
import type { NodeView } from "./nodes.ts";
import type { Note } from "./notes.ts";
import type { DueTimePage, DueTimeQuery, ScheduleView } from "./schedules.ts";
import type { SessionView } from "./sessions.ts";
import type { Admission, TriggerRequest } from "./trigger.ts";

/**
 * All operations of a fleet. Implemented by the fleet itself and by the client that connects to its
 * socket, so that commands work with either.
 */
export interface FleetControl {
  status(): Promise<FleetStatus>;
  trigger(request: TriggerRequest): Promise<Admission>;
  /** Resumes a session, given its ID or the ID of a job that ran in it. */
  resume(sessionOrJob: string, prompt: string): Promise<Admission>;
  /** Starts a new session as a copy of this one, up to and including the message `messageId`. */
  fork(sessionOrJob: string, prompt: string, messageId?: string): Promise<Admission>;
  /** Resolves with the finished job. */
  wait(jobId: string, signal?: AbortSignal): Promise<Job>;
  /**
   * Ends a pending job immediately and asks a running one to stop; `force` kills it instead. Also
   * cancels the jobs that were delegated from it.
   */
  cancel(jobId: string, options?: { force?: boolean }): Promise<Job>;
  job(id: string): Promise<{ job: Job; attempts: Attempt[] } | undefined>;
  /** All jobs of this job's chain, oldest first. */
  chain(jobId: string): Promise<Job[]>;
  jobs(query: JobQuery): Promise<JobPage>;
  /** The messages of a job from a byte offset. With `follow`, continues until the job has ended. */
  output(jobId: string, options?: OutputOptions): AsyncIterable<JobOutput>;
  /** Pending permission requests and questions. With `job`, also the answered ones of that job. */
  approvals(query?: { job?: string }): Promise<Approval[]>;
  /**
   * Allows or denies a tool, or answers a question; `deny` declines the question. `note` is a name
   * that the caller gives itself, recorded with its identity. The agent receives the reason of a
   * denial.
   */
  answer(
    approvalId: string,
    decision: ApprovalDecision,
    note?: string,
    reason?: string,
  ): Promise<Approval>;
  /** Most recently used first. */
  sessions(query?: { agent?: string }): Promise<SessionView[]>;
  /** Starts no new jobs of the agent; running jobs continue. */
  pauseAgent(agent: string): Promise<void>;
  /** Also resumes the agent's credential, which other agents may share. */
  resumeAgent(agent: string): Promise<void>;
  deliveries(query: DeliveryQuery): Promise<DeliveryListView>;
  delivery(id: string): Promise<DeliveryWithBody | undefined>;
  /** Processes a delivery again as if it had just arrived; creates a new job. */
  replay(deliveryId: string): Promise<Delivery>;
  /** All schedules with their next due times and the result of the last one. */
  schedules(): Promise<ScheduleView[]>;
  /** The ledger of due times, latest first. */
  dueTimes(query: DueTimeQuery): Promise<DueTimePage>;
  /** Overrides `enabled` in the configuration until the next call. */
  switchSchedule(name: ScheduleRef, enabled: boolean): Promise<ScheduleView>;
  /** Removes a run or an interval that an agent scheduled for itself. */
  removeSchedule(name: ScheduleRef): Promise<void>;
  budget(): Promise<BudgetView>;
  /** Raises limits of the agent, or of the fleet, for today. */
  raiseBudget(agent: string | undefined, increase: Partial<BudgetAmounts>): Promise<BudgetView>;
  /** The cost of runs by day, and by agent, schedule or model. */
  costs(request: CostQuery): Promise<CostView>;
  /** The files that a job kept. */
  artifacts(jobId: string): Promise<Artifact[]>;
  /** The content of a kept file; undefined if there is no such file. */
  artifact(jobId: string, name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** The notes that an agent wrote for its later sessions. */
  notes(agent: string): Promise<Note[]>;
  note(agent: string, name: string): Promise<string | undefined>;
  /** Hook runs of finished jobs, newest first. */
  hooks(query: HookQuery): Promise<HookRun[]>;
  /** Retries a failed hook run. */
  retryHook(id: string): Promise<HookRun>;
  /** The current configuration, each value with its origin, with secrets masked. */
  configuration(): Promise<ConfigView>;
  /** The connection of each agent to each of its chat platforms. */
  chat(): Promise<ChatConnectionStatus[]>;
  /** The nodes in the order in which they joined; without a shared store, only this one. */
  nodes(): Promise<NodeView[]>;
  /** The audit log, newest first. */
  audit(query: AuditQuery): Promise<AuditPage>;
  /** Named tokens, without their secrets. */
  tokens(): Promise<AccessToken[]>;
  createToken(request: NewAccessToken): Promise<CreatedToken>;
  revokeToken(name: string): Promise<void>;
  /** Signed-in browsers, newest first. */
  logins(): Promise<Login[]>;
  /** Signs out a browser, given its ID or the part of the ID that identities show. */
  endLogin(id: string): Promise<void>;
  /** Signs out every browser; returns how many there were. */
  endAllLogins(): Promise<number>;
  reload(): Promise<void>;
  /** Drains, then cancels the remaining jobs. `detach` leaves running jobs to the next process. */
  shutdown(options?: ShutdownOptions): Promise<void>;
  /** All events from now on. */
  events(signal: AbortSignal): AsyncIterable<FleetEvent>;
}

export interface OutputOptions {
  from?: number;
  follow?: AbortSignal;
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
  runtime: "sdk" | "cli";
  docker: boolean;
  paused: { reason: string; since: string } | null;
  pending: number;
  waiting: number;
  /** `node` is the name of the job's node, in a fleet with a shared store. */
  running: { job_id: string; started_at: string; activity: string; node?: string | null }[];
  schedules: { name: string; type: string; enabled: boolean }[];
  /** The job that ended last. */
  last_job: { id: string; outcome: string | null; finished_at: string | null } | null;
  /** The next due time of its schedules. */
  next_due: { schedule: string; due_at: string } | null;
  cost_today_usd: number;
}

/** All events of a fleet. */
export type FleetEvent =
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
