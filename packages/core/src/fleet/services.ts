import type { Environment, Fleet, LoadedFleet, ResolvedAgent } from "@herdctl/config";
import { type Job, Mutex, type Outcome } from "@herdctl/protocol";
import {
  type ClusterServices,
  createClusterServices,
  joinCluster,
} from "../cluster/cluster-services.ts";
import { isFencedError, type Membership } from "../cluster/membership.ts";
import { NodeCommandBus } from "../cluster/node-command-bus.ts";
import type { NodeOptions } from "../cluster/node-identity.ts";
import type { AssignmentRules } from "../cluster/plan-assignments.ts";
import { SharedQueue } from "../cluster/shared-queue.ts";
import { HookWorker } from "../hooks/hook-worker.ts";
import type { WorkClaimResult } from "../jobs/admission/work-item.ts";
import type { AskPerson } from "../jobs/attempts/approval-requests.ts";
import { PendingApprovals } from "../jobs/attempts/approval-requests.ts";
import { BudgetWatch } from "../jobs/attempts/budget-watch.ts";
import { cancelJob } from "../jobs/attempts/cancel-job.ts";
import { ContainerCleanup } from "../jobs/attempts/container-cleanup.ts";
import { PrestartedProcesses } from "../jobs/attempts/prestarted-processes.ts";
import { sessionRule } from "../jobs/attempts/session-plan.ts";
import type { ToolCall } from "../jobs/attempts/tool-call.ts";
import { AgentPauses, ApiBackoff } from "../jobs/dispatch/agent-pauses.ts";
import { Dispatcher } from "../jobs/dispatch/dispatcher.ts";
import type { Queue } from "../jobs/dispatch/embedded-queue.ts";
import { EmbeddedQueue } from "../jobs/dispatch/embedded-queue.ts";
import { ActiveJobs, type JobServices } from "../jobs/services.ts";
import type { EventHub } from "../lib/event-hub.ts";
import type { FleetProblems } from "../lib/fleet-problems.ts";
import { dayOf } from "../lib/time-zone.ts";
import { removeStaleKeepAliveFolders } from "../runner/contract/paths.ts";
import { sessionHomeKindOf } from "../runner/contract/run-order.ts";
import { EndingRunners, IdleRunners } from "../runner-pool/idle-runners.ts";
import { RunnerPool } from "../runner-pool/runner-pool.ts";
import type { RunnerLease } from "../store/files/lease-file.ts";
import type { AffinityQuery } from "../store/model/assignment.ts";
import type { ToolCallAnswer } from "../store/model/tool-call.ts";
import { acquireLock, type StateLock } from "../store/sqlite/state-lock.ts";
import { StateManager } from "../store/state-manager.ts";
import type { ChatManager } from "../triggers/chat/chat-manager.ts";
import { AgentSchedules } from "../triggers/schedules/agent-schedules.ts";
import type { ScheduleClock } from "../triggers/schedules/schedule-clock.ts";
import { WorkClaims } from "../triggers/work-sources/work-claims.ts";
import type { ConfigWatcher } from "./config-watcher.ts";
import type { Leadership } from "./leader-services.ts";
import type { RetentionCleanup } from "./retention.ts";
import type { SearchIndex } from "./search-index.ts";

interface FleetServicesOptions {
  hub: EventHub;
  problems: FleetProblems;
  loaded(): LoadedFleet;
  runners?: RunnerPool;
  /** Starts only jobs that are triggered in this process. */
  ownJobsOnly: boolean;
  /** No one can answer: permission requests of own jobs are denied. */
  unattended: boolean;
  version: string;
  node: NodeOptions;
  /** URL under which people reach the dashboard. */
  dashboardUrl(): string | null;
  handleToolCall(call: ToolCall, services: FleetServices): Promise<ToolCallAnswer | undefined>;
  reportError(message: string, cause?: unknown): void;
}

/** Events of finished jobs, which may have due hooks and a work item to settle. */
const jobEndings = ["job:completed", "job:failed", "job:cancelled", "job:skipped"] as const;

/**
 * The composition root of the fleet process: its services, built once and in order. Nothing runs
 * until the lifecycle starts it.
 */
export class FleetServices implements JobServices {
  readonly hub: EventHub;
  readonly state: StateManager;
  readonly nodes: Membership | undefined;
  readonly cluster: ClusterServices | undefined;
  readonly agentSchedules: AgentSchedules;
  readonly containers: ContainerCleanup;
  readonly runners: RunnerPool;
  readonly endingRunners: EndingRunners;
  readonly prestartedProcesses: PrestartedProcesses;
  readonly idleRunners: IdleRunners;
  readonly budgets: BudgetWatch;
  readonly pendingApprovals: PendingApprovals;
  readonly pauses: AgentPauses;
  readonly backoff = new ApiBackoff();
  readonly activeJobs = new ActiveJobs();
  readonly ownJobs = new Set<string>();
  readonly watchedJobs = new Set<string>();
  readonly queue: Queue;
  readonly dispatcher: Dispatcher;
  readonly workClaims: WorkClaims;
  /** Tool calls that must not overtake each other. */
  readonly toolCallMutex = new Mutex();
  /** Replaced each time that this node becomes the leader. */
  hooks: HookWorker;

  /** Set by the lifecycle while they run. */
  retention?: RetentionCleanup;
  searchIndex?: SearchIndex;
  clock?: ScheduleClock;
  configWatcher?: ConfigWatcher;
  chat?: ChatManager;
  leadership?: Leadership;

  /** Takes the lock, opens the state and joins the cluster if there is one. */
  static async open(options: FleetServicesOptions): Promise<FleetServices> {
    const { stateDir, store } = options.loaded().fleet;
    const lock = acquireLock(stateDir);
    const state = new StateManager(stateDir);
    let nodes: Membership | undefined;
    try {
      const dayName = (at: Date) => dayOf(at, options.loaded().fleet.fleet.timezone).name;
      const isNodeGone = (id: string) => nodes?.find(id).isGone ?? false;
      await state.open({ dayName, store, isNodeGone });
      // Before anything else, so that every write carries the node's identity.
      nodes = await joinCluster(options, state);
      const agentSchedules = new AgentSchedules(state, options.hub);
      await agentSchedules.reload();
      return new FleetServices(options, { lock, state, nodes, agentSchedules });
    } catch (error) {
      await nodes?.stop(true);
      await state.close();
      lock.release();
      throw error;
    }
  }

  readonly lock: StateLock;

  private constructor(
    private readonly options: FleetServicesOptions,
    opened: OpenedState,
  ) {
    this.hub = options.hub;
    this.lock = opened.lock;
    this.state = opened.state;
    this.nodes = opened.nodes;
    this.agentSchedules = opened.agentSchedules;

    this.cluster = createClusterServices(this, this.nodes);
    this.containers = new ContainerCleanup(this);
    this.runners = options.runners ?? this.createRunnerPool();
    this.endingRunners = new EndingRunners(() => this.sweepKeptRuns());
    this.prestartedProcesses = new PrestartedProcesses(this);
    this.idleRunners = new IdleRunners(() => this.maxIdleRunners(), this.endingRunners);
    this.budgets = new BudgetWatch(this);
    this.pendingApprovals = new PendingApprovals(this.state, this.hub);
    this.pauses = new AgentPauses(this.state, this.hub, options.loaded);
    this.queue = openQueue(this, options.ownJobsOnly ? (id) => this.ownJobs.has(id) : undefined);
    this.dispatcher = new Dispatcher(this, !options.ownJobsOnly);
    this.workClaims = new WorkClaims({
      state: this.state,
      fleet: () => this.configuredFleet,
      environment: this.environment,
      isResponsible: this.isLeader,
      isStateShared: this.nodes !== undefined,
      abandonJob: async (jobId, reason) => void (await cancelJob(this, jobId, false, reason)),
      reportError: this.reportError,
    });
    this.hooks = this.newHookWorker();

    this.agentSchedules.onChanged = () => this.cluster?.events.notifySchedulesChanged();
    for (const event of ["approval:requested", "job:waiting"] as const)
      this.hub.on(event, () => this.hooks.wake());
    for (const ending of jobEndings) {
      this.hub.on(ending, () => {
        this.hooks.wake();
        this.workClaims.wake();
      });
    }
  }

  /** The configuration as written, without what agents have scheduled. */
  get configuredFleet(): Fleet {
    return this.options.loaded().fleet;
  }

  get nodeId(): string | undefined {
    return this.nodes?.id;
  }

  // Arrow functions, because consumers take them out of the object.
  readonly fleet = (): Fleet => this.agentSchedules.applyTo(this.configuredFleet);

  readonly environment = (): Environment => this.options.loaded().environment;

  readonly lease = (): RunnerLease | undefined => this.nodes?.lease.runnerLease;

  readonly configHash = (): string | undefined => this.nodes?.configHash;

  readonly isLeader = (): boolean => this.nodes?.isLeader ?? true;

  readonly isWatched = (jobId: string): boolean => this.watchedJobs.has(jobId);

  readonly isConversation = ({ trigger_type }: Job): boolean =>
    trigger_type === "chat" && !this.options.ownJobsOnly;

  readonly askPerson = (jobId: string): AskPerson | undefined => {
    const isUnattended = this.options.unattended && this.ownJobs.has(jobId);
    return isUnattended ? undefined : this.pendingApprovals.ask;
  };

  readonly handleToolCall = (call: ToolCall): Promise<ToolCallAnswer | undefined> =>
    this.options.handleToolCall(call, this);

  readonly claimWork = (agent: ResolvedAgent): Promise<WorkClaimResult> =>
    this.workClaims.claimNext(agent);

  readonly onAdmissionDecided = (jobId: string): void => this.workClaims.onAdmissionDecided(jobId);

  readonly onAttemptEnded = async (agent: string, outcome: Outcome): Promise<void> => {
    this.backoff.onOutcome(outcome.code);
    if (outcome.code === "docker_unavailable") this.containers.sweep();
    if (!this.options.ownJobsOnly) await this.pauses.onOutcome(agent, outcome);
  };

  readonly setStoreProblem = (problem: string | undefined): void =>
    this.options.problems.set("state", problem);

  /**
   * A write that was refused because the lease ended triggers a heartbeat, so that the node notices
   * immediately.
   */
  readonly reportError = (message: string, cause?: unknown): void => {
    if (this.nodes && isFencedError(cause)) this.nodes.heartbeat();
    else this.options.reportError(message, cause);
  };

  newHookWorker(): HookWorker {
    const { ownJobsOnly } = this.options;
    return new HookWorker({
      state: this.state,
      fleet: () => this.configuredFleet,
      environment: this.environment,
      dashboardUrl: this.options.dashboardUrl,
      isResponsibleFor: (jobId) => !ownJobsOnly || this.ownJobs.has(jobId),
      onAttempt: (hook) => this.hub.emit({ type: "hook:attempted", hook }),
      reportError: this.reportError,
    });
  }

  private createRunnerPool(): RunnerPool {
    const size = this.configuredFleet.fleet.max_keep_alive > 0 ? 1 : 0;
    const needs = () => {
      const { agents } = this.configuredFleet;
      const sdk = agents.some(({ runtime }) => runtime.type === "sdk");
      return { sdk, docker: agents.some(({ docker }) => docker.enabled) };
    };
    return new RunnerPool({ size, neededLibraries: needs, refill: true });
  }

  private maxIdleRunners(): number {
    return this.configuredFleet.fleet.max_keep_alive - this.prestartedProcesses.count;
  }

  private async sweepKeptRuns(): Promise<void> {
    await removeStaleKeepAliveFolders(this.state.stateDir).catch((error) =>
      this.reportError("Failed to clean up after a runner", error),
    );
    this.containers.sweep();
  }
}

interface OpenedState {
  lock: StateLock;
  state: StateManager;
  nodes: Membership | undefined;
  agentSchedules: AgentSchedules;
}

interface QueueServices
  extends Pick<JobServices, "state" | "fleet" | "reportError" | "activeJobs"> {
  cluster: ClusterServices | undefined;
}

/** The queue for this state. `own` limits it to jobs that were triggered in this process. */
function openQueue(
  { state, cluster, fleet, reportError, activeJobs }: QueueServices,
  own?: (jobId: string) => boolean,
): Queue {
  const isActive = (jobId: string) => activeJobs.isActive(jobId);
  const { shared } = state;
  if (!shared || !cluster)
    return new EmbeddedQueue({ jobs: state.jobs, isActive, isOwnJob: own ?? (() => true) });
  const { nodes } = cluster;
  const { connectionString } = shared;
  return new SharedQueue({
    jobs: state.jobs,
    commandBus: new NodeCommandBus({ connectionString, nodeId: nodes.id, reportError }),
    currentNode: () => nodes,
    knownNodes: () => nodes.nodes,
    canAssign: () => nodes.isConfigCurrent,
    rules: () => assignmentRules(fleet().agents),
    isOwnJob: own,
    isActive,
  });
}

function assignmentRules(
  agents: readonly ResolvedAgent[],
): Pick<AssignmentRules, "placementRules" | "latestSessionQuery"> {
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  return {
    placementRules: new Map(
      agents.map(({ name, runs_on: runsOn, when_node_gone: whenNodeGone }) => [
        name,
        { runsOn, whenNodeGone },
      ]),
    ),
    latestSessionQuery: ({ agent, schedule }) => latestOf(byName.get(agent), schedule),
  };
}

/** The session that a job resumes by default, as `prepareRun` will choose it. */
function latestOf(
  agent: ResolvedAgent | undefined,
  schedule: string | null,
): AffinityQuery["latestSession"] {
  if (!agent) return null;
  const { shouldResume, ownerSchedule } = sessionRule(agent, schedule);
  return shouldResume ? { sessionHome: sessionHomeKindOf(agent), ownerSchedule } : null;
}
