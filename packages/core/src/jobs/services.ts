import type { Environment, Fleet, ResolvedAgent } from "@herdctl/config";
import type { Job, Outcome, ScheduleRef } from "@herdctl/protocol";
import type { EventHub } from "../lib/event-hub.ts";
import type { EndingRunners, IdleRunners } from "../runner-pool/idle-runners.ts";
import type { RunnerPool } from "../runner-pool/runner-pool.ts";
import type { RunnerLease } from "../store/files/lease-file.ts";
import type { OneShot } from "../store/model/agent-schedule.ts";
import type { ToolCallAnswer } from "../store/model/tool-call.ts";
import type { StateManager } from "../store/state-manager.ts";
import type { WorkClaimResult } from "./admission/work-item.ts";
import type { AskPerson } from "./attempts/approval-requests.ts";
import type { BudgetWatch } from "./attempts/budget-watch.ts";
import type { PrestartedProcesses } from "./attempts/prestarted-processes.ts";
import type { ToolCall } from "./attempts/tool-call.ts";
import type { ApiBackoff } from "./dispatch/agent-pauses.ts";
import type { Queue } from "./dispatch/embedded-queue.ts";

/** The services of the fleet process that jobs need, implemented by `FleetServices`. */
export interface JobServices {
  readonly state: StateManager;
  readonly hub: EventHub;
  readonly queue: Queue;
  readonly runners: RunnerPool;
  readonly idleRunners: IdleRunners;
  readonly endingRunners: EndingRunners;
  readonly prestartedProcesses: PrestartedProcesses;
  /** Spending limits of running jobs. */
  readonly budgets: BudgetWatch;
  readonly backoff: ApiBackoff;
  /** Jobs that this process has started or taken over, by id. */
  readonly activeJobs: ActiveJobs;
  readonly dispatcher: JobDispatcher;
  readonly agentSchedules: { find(name: ScheduleRef): OneShot | undefined };
  /** Jobs that were triggered in this process. */
  readonly ownJobs: Set<string>;
  /** Jobs whose viewers want to see the model's text while it is generated. */
  readonly watchedJobs: Set<string>;
  /** Set where several nodes share the state. */
  readonly cluster?: ClusterServices;
  /** Id of this node; undefined if the state is not shared. */
  readonly nodeId: string | undefined;
  /** The configuration in force. A reload replaces it; jobs under way keep theirs. */
  fleet(): Fleet;
  environment(): Environment;
  /** The lease that runners of this node watch, where nodes share the state. */
  lease(): RunnerLease | undefined;
  /** Hash of the configuration of this process; undefined if the state is not shared. */
  configHash(): string | undefined;
  /** Whether this process does the work that only one node may do. */
  isLeader(): boolean;
  isWatched(jobId: string): boolean;
  /** The job is a turn of a conversation that will probably continue soon. */
  isConversation(job: Job): boolean;
  /** Sends requests of this job to people; undefined if no one can answer. */
  askPerson(jobId: string): AskPerson | undefined;
  /** Answers a tool call of a run; undefined if the next fleet process must answer it. */
  handleToolCall(call: ToolCall): Promise<ToolCallAnswer | undefined>;
  /** Claims an item of the agent's work source for a job that is still to be admitted. */
  claimWork(agent: ResolvedAgent): Promise<WorkClaimResult>;
  /** Called when the record shows whether a job was admitted: its item is then kept or released. */
  onAdmissionDecided(jobId: string): void;
  /** An attempt has ended and is recorded. */
  onAttemptEnded(agent: string, outcome: Outcome): Promise<void>;
  /** Sets why the state cannot be written; undefined if it can. */
  setStoreProblem(problem: string | undefined): void;
  /** Reports a problem that people should know and that no job record contains. */
  reportError(message: string, cause?: unknown): void;
}

export type StopReason = "cancelled" | "interrupted";

/** A running job, as other parts of the fleet process see it. */
export interface RunningJob {
  readonly id: string;
  readonly agent: string;
  readonly startedAt: string;
  readonly activity: string;
  stop(reason: StopReason, force?: boolean): void;
  /** Stops following the job. Its runner continues, and the next fleet process adopts it. */
  detach(): Promise<void>;
  /** Ends the runner and records nothing, because another node may have taken over the job. */
  abandon(): Promise<void>;
}

export class ActiveJobs extends Map<string, RunningJob> {
  /** Jobs that are being started and cannot be stopped yet. */
  readonly starting = new Set<string>();

  isActive(jobId: string): boolean {
    return this.has(jobId) || this.starting.has(jobId);
  }
}

export interface JobDispatcher {
  /** Looks for jobs to start. `created` are jobs that were recorded just now. */
  wake(created?: readonly Job[]): void;
}

interface ClusterServices {
  nodes: {
    readonly id: string;
    readonly epoch: number;
    find(id: string): { name: string; isGone: boolean };
  };
  shipper: {
    /** Fetches the output of earlier attempts from another node. */
    fetchEarlierOutput(job: Job, node: string): Promise<void>;
    follow(job: Job): Shipment;
  };
}

/** A job's output on its way to the shared store. */
export interface Shipment {
  /** Resolves when all of it is in the store. */
  end(): Promise<void>;
  detach(): void;
}
