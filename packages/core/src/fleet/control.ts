import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { ChatLinkStatus } from "../chat/chat-link.ts";
import type { ShownConfig } from "../config/show.ts";
import type { Admission, TriggerRequest } from "../queue/admit.ts";
import type { AccessToken } from "../state/access-token.ts";
import type { Approval, Word } from "../state/approval.ts";
import type { Artifact } from "../state/artifacts.ts";
import type { AuditPage, AuditQuery } from "../state/audit.ts";
import type { DeliveryPage, DeliveryQuery, HookQuery } from "../state/contract.ts";
import type { Delivery, DeliveryWithBody } from "../state/delivery.ts";
import type { DueRecord, ScheduleName } from "../state/due-time.ts";
import type { HookRun } from "../state/hook-run.ts";
import type { Attempt, Job } from "../state/job.ts";
import type { JobPage, JobQuery } from "../state/job-store.ts";
import type { Login } from "../state/login.ts";
import type { Note } from "../state/memory.ts";
import type { DuePage, DueQuery } from "../state/schedule-store.ts";
import type { Amounts } from "../state/spending.ts";
import type { Refusal } from "../triggers/webhook/refusals.ts";
import type { BudgetView } from "./budget-view.ts";
import type { CostRequest, CostView } from "./cost-view.ts";
import type { CreatedToken, NewAccessToken } from "./fleet-access.ts";
import type { NodeView } from "./nodes/node-view.ts";
import type { ScheduleView } from "./schedule-view.ts";
import type { SessionView } from "./session-view.ts";

/**
 * The whole of what can be asked of a fleet. The fleet itself is one; the client that speaks to it
 * over its socket is another, so that a command does not care which it holds.
 */
export interface FleetControl {
  status(): Promise<FleetStatus>;
  trigger(request: TriggerRequest): Promise<Admission>;
  /** Goes on with a session, named by itself or by a job that ran in it. */
  resume(sessionOrJob: string, prompt: string): Promise<Admission>;
  /** Begins a new session that starts as a copy of this one, up to the message `at` if one is named. */
  fork(sessionOrJob: string, prompt: string, at?: string): Promise<Admission>;
  /** Resolves with the finished record. */
  wait(jobId: string, signal?: AbortSignal): Promise<Job>;
  /**
   * A pending job is ended at once; a running one is asked to stop. `force` does not ask. All that
   * its agent handed on ends with it.
   */
  cancel(jobId: string, options?: { force?: boolean }): Promise<Job>;
  job(id: string): Promise<{ job: Job; attempts: Attempt[] } | undefined>;
  /** All jobs of the chain that this one is part of, the oldest first. */
  chain(jobId: string): Promise<Job[]>;
  jobs(query: JobQuery): Promise<JobPage>;
  /** The messages of a job from a byte offset on; with a signal it goes on until the job has ended. */
  output(jobId: string, options?: OutputOptions): AsyncIterable<JobOutput>;
  /**
   * What agents ask of people and nobody has answered: permission, and questions. Of one job also
   * what is answered.
   */
  approvals(query?: { job?: string }): Promise<Approval[]>;
  /**
   * Allows or denies a tool, or replies to a question; `deny` declines to answer it. `note` is what
   * the caller calls itself, kept beside its identity. The agent is told the reason of a denial.
   */
  answer(approvalId: string, word: Word, note?: string, reason?: string): Promise<Approval>;
  /** The one used last first. */
  sessions(query?: { agent?: string }): Promise<SessionView[]>;
  /** Starts no more jobs of it; those that run go on. */
  pauseAgent(agent: string): Promise<void>;
  /** Also lifts the pause of the credential that the agent shares with others. */
  resumeAgent(agent: string): Promise<void>;
  deliveries(query: DeliveryQuery): Promise<DeliveryList>;
  delivery(id: string): Promise<DeliveryWithBody | undefined>;
  /** Takes a delivery as if it came now; it gets a job of its own. */
  replay(deliveryId: string): Promise<Delivery>;
  /** Schedules that go by the clock: how they are planned, and what became of their last due time. */
  schedules(): Promise<ScheduleView[]>;
  /** The ledger of due times, the latest first. */
  dueTimes(query: DueQuery): Promise<DuePage>;
  /** On or off until it is switched again, whatever the configuration says. */
  switchSchedule(name: ScheduleName, enabled: boolean): Promise<ScheduleView>;
  /** Takes back what an agent has planned: a run, or another interval. */
  removeSchedule(name: ScheduleName): Promise<void>;
  budget(): Promise<BudgetView>;
  /** Raises limits for today; without an agent those of the fleet. */
  raiseBudget(agent: string | undefined, by: Partial<Amounts>): Promise<BudgetView>;
  /** What runs have cost: by day, and by agent, schedule or model. */
  costs(request: CostRequest): Promise<CostView>;
  /** The files that a job keeps. */
  artifacts(jobId: string): Promise<Artifact[]>;
  /** One of them; undefined when there is no such file. */
  artifact(jobId: string, name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** What an agent wrote for its later sessions. */
  notes(agent: string): Promise<Note[]>;
  note(agent: string, name: string): Promise<string | undefined>;
  /** What ran, runs or is to run after finished jobs; newest first. */
  hooks(query: HookQuery): Promise<HookRun[]>;
  /** Tries a hook once more that was given up. */
  retryHook(id: string): Promise<HookRun>;
  /** The configuration in force, each value with its origin, secrets masked. */
  configuration(): Promise<ShownConfig>;
  /** Each agent on each chat platform, as it stands. */
  chat(): Promise<ChatLinkStatus[]>;
  /** Who runs the fleet together, the first to join first; this one alone without a shared store. */
  nodes(): Promise<NodeView[]>;
  /** The audit log, newest record first. */
  audit(query: AuditQuery): Promise<AuditPage>;
  /** Tokens with a name, without their secrets. */
  tokens(): Promise<AccessToken[]>;
  createToken(wanted: NewAccessToken): Promise<CreatedToken>;
  revokeToken(name: string): Promise<void>;
  /** Browsers that are signed in, the newest first. */
  logins(): Promise<Login[]>;
  /** Signs a browser out, by its id or by the part of it that identities show. */
  endLogin(id: string): Promise<void>;
  /** Signs every browser out; returns how many there were. */
  endAllLogins(): Promise<number>;
  reload(): Promise<void>;
  /** Drains, then cancels what is left; `detach` leaves running jobs to the next fleet process. */
  shutdown(options?: ShutdownOptions): Promise<void>;
  /** Everything that happens from now on. */
  events(signal: AbortSignal): AsyncIterable<FleetEvent>;
}

export interface OutputOptions {
  from?: number;
  follow?: AbortSignal;
}

export interface JobOutput {
  message: SDKMessage;
  /** Where the next one begins. */
  offset: number;
}

export interface DeliveryList extends DeliveryPage {
  /** What was refused since the fleet started, by reason. */
  refused: Refusal[];
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
    /** Why new work is refused, or what is wrong with the configuration on disk. */
    problem: string | null;
    pending: number;
    running: number;
    waiting: number;
    cost_today_usd: number;
    /** Where browsers find it; null while nothing listens there. */
    url: string | null;
    /** Whether several machines may run it, by a store that they share. */
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
  /** `node` is the name of the one that it runs on, where several share the fleet. */
  running: { job_id: string; started_at: string; doing: string; node?: string | null }[];
  schedules: { name: string; type: string; enabled: boolean }[];
  /** The one that ended last. */
  last_job: { id: string; outcome: string | null; finished_at: string | null } | null;
  /** What comes due next of its schedules. */
  next_due: { schedule: string; due_at: string } | null;
  cost_today_usd: number;
}

/** One union for everybody who looks on. */
export type FleetEvent =
  | { type: "job:created"; job: Job }
  | { type: "job:started"; job: Job }
  | { type: "job:output"; job_id: string; agent: string; message: SDKMessage; offset: number }
  | { type: "job:waiting"; job: Job }
  | { type: "job:completed"; job: Job }
  | { type: "job:failed"; job: Job }
  | { type: "job:cancelled"; job: Job }
  | { type: "job:skipped"; job: Job }
  | { type: "approval:asked"; approval: Approval }
  | { type: "approval:answered"; approval: Approval }
  | { type: "hook:tried"; hook: HookRun }
  | { type: "delivery:received"; delivery: Delivery }
  | { type: "schedule:not_run"; due: DueRecord }
  | { type: "schedule:switched"; agent: string; schedule: string; enabled: boolean }
  | { type: "agent:paused"; agent: string; reason: string }
  | { type: "agent:resumed"; agent: string }
  | { type: "fleet:reloaded"; agents: string[] }
  | { type: "fleet:problem"; message: string }
  | { type: "fleet:stopping" };
