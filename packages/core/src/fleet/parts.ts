import { join } from "node:path";
import type { ChatDesk } from "../chat/chat-desk.ts";
import type { LoadedFleet } from "../config/load.ts";
import { HookDesk } from "../hooks/hook-desk.ts";
import type { Queue } from "../queue/contract.ts";
import { sweepLiveFolders } from "../runner/live/live-folder.ts";
import { SparePool } from "../runner-process/spare.ts";
import { WaitingRunners } from "../runner-process/waiting-runners.ts";
import { acquireLock, type Lock } from "../state/lock.ts";
import type { Outcome } from "../state/outcome.ts";
import { StateManager } from "../state/state-manager.ts";
import { dayOf } from "../triggers/schedule/day.ts";
import { WorkDesk, type WorkDeskOptions } from "../work/work-desk.ts";
import { AgentPauses } from "./agent-pauses.ts";
import { ApprovalBoard } from "./approval-board.ts";
import { BudgetWatch } from "./budget-watch.ts";
import { cancelJob } from "./cancel-job.ts";
import type { ConfigWatch } from "./config-watch.ts";
import type { ContainerWatch } from "./container-watch.ts";
import type { FleetContext } from "./context.ts";
import { Dispatcher } from "./dispatcher.ts";
import { Turns } from "./errands/turns.ts";
import type { EventHub } from "./event-hub.ts";
import { LookAhead } from "./look-ahead.ts";
import { joinFleet } from "./nodes/join-fleet.ts";
import type { Lead } from "./nodes/lead.ts";
import { isFenced, type Membership } from "./nodes/membership.ts";
import type { NodeOptions } from "./nodes/node-options.ts";
import { makeSite } from "./nodes/node-site.ts";
import { openQueue } from "./open-queue.ts";
import { OwnPlans } from "./own-plans.ts";
import type { Problems } from "./problems.ts";
import type { Retention } from "./retention.ts";
import type { ScheduleClock } from "./schedule-clock.ts";
import { SpareContainers } from "./spare-containers.ts";
import { WarmClaudes } from "./warm-claudes.ts";

/** What a fleet consists of while it holds the lock. */
export interface FleetParts {
  state: StateManager;
  lock: Lock;
  spares: SparePool;
  board: ApprovalBoard;
  pauses: AgentPauses;
  context: FleetContext;
  dispatcher: Dispatcher;
  queue: Queue;
  /** Another one each time that this node becomes the lead. */
  hooks: HookDesk;
  newHooks(): HookDesk;
  work: WorkDesk;
  /** What agents have planned for themselves. */
  plans: OwnPlans;
  /** Errands that must not overtake each other. */
  errands: Turns;
  /** Jobs that were triggered here. */
  own: Set<string>;
  /** Jobs that somebody looks at while the model speaks. */
  watched: Set<string>;
  /** Jobs that are turns of a conversation, though they do not come from a chat. */
  live: Set<string>;
  retention?: Retention;
  containers?: ContainerWatch;
  clock?: ScheduleClock;
  watch?: ConfigWatch;
  chat?: ChatDesk;
  /** This process among those that share the store; undefined where it has the state for itself. */
  nodes?: Membership;
  lead?: Lead;
}

export interface FleetFrame {
  hub: EventHub;
  problems: Problems;
  loaded(): LoadedFleet;
  spares?: SparePool;
  onlyOwn: boolean;
  unattended: boolean;
  version: string;
  node: NodeOptions;
  errand: FleetContext["errand"];
  trouble(message: string, cause?: unknown): void;
}

/** Takes the lock, opens the state and puts the parts together. Nothing runs yet. */
export async function openParts(frame: FleetFrame): Promise<FleetParts> {
  const { stateDir, store } = frame.loaded().fleet;
  const lock = acquireLock(stateDir);
  const state = new StateManager(stateDir);
  let nodes: Membership | undefined;
  try {
    const dayName = (at: Date) => dayOf(at, frame.loaded().fleet.fleet.timezone).name;
    const isNodeGone = (id: string) => nodes?.find(id).isGone ?? false;
    await state.open({ dayName, store, isNodeGone });
    // Before anything else, so that nothing is written by nobody.
    nodes = await joinFleet(frame, state);
    const plans = new OwnPlans(state, frame.hub);
    await plans.read();
    return assemble(frame, { state, plans, lock, nodes });
  } catch (error) {
    await nodes?.stop(true);
    await state.close();
    lock.release();
    throw error;
  }
}

interface Opened {
  state: StateManager;
  plans: OwnPlans;
  lock: Lock;
  nodes: Membership | undefined;
}

function assemble(frame: FleetFrame, { state, plans, lock, nodes }: Opened): FleetParts {
  const { hub, problems, loaded, onlyOwn, unattended } = frame;
  const trouble = nodes ? heedingFences(frame.trouble, nodes) : frame.trouble;
  const isLead = () => nodes?.isLead ?? true;
  const site = makeSite({ state, hub, trouble }, nodes);
  const [own, watched, live] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const size = loaded().fleet.fleet.warm ? 1 : 0;
  const needs = () => {
    const { agents } = loaded().fleet;
    const sdk = agents.some(({ runtime }) => runtime.type === "sdk");
    return { sdk, docker: agents.some(({ docker }) => docker.enabled) };
  };
  const scratch = join(state.stateDir, "spares");
  const spares = frame.spares ?? new SparePool({ scratch, size, needs });
  const board = new ApprovalBoard(state, hub);
  const pauses = new AgentPauses(state, hub, loaded);
  const concluded = async (agent: string, outcome: Outcome) => {
    dispatcher.heed(outcome);
    if (outcome.code === "docker_unavailable") parts.containers?.sweep();
    if (!onlyOwn) await pauses.heed(agent, outcome);
  };
  const configured = {
    state,
    lease: () => nodes?.lease.forRunner,
    fleet: () => plans.over(loaded().fleet),
    environment: () => loaded().environment,
    trouble,
  };
  const waiting = waitingRunners(frame, state, () => parts.containers?.sweep());
  const context: FleetContext = {
    ...configured,
    hub,
    site,
    spares,
    waiting,
    warm: new WarmClaudes({ ...configured, spares, waiting }),
    ahead: new LookAhead(configured),
    budgets: new BudgetWatch(configured),
    spareContainers: new SpareContainers(configured),
    isWatched: (jobId) => watched.has(jobId),
    isLive: ({ id, trigger_type }) => !onlyOwn && (trigger_type === "chat" || live.has(id)),
    askPerson: (jobId) => (unattended && own.has(jobId) ? undefined : board.ask),
    errand: frame.errand,
    takeWork: (agent) => work.take(agent),
    decidedOn: (jobId) => work.decidedOn(jobId),
    concluded,
    nodeId: nodes?.id,
    configPrint: () => nodes?.configPrint,
    isLead,
    writable: (problem) => problems.set("state", problem),
  };
  const queue = openQueue({
    context,
    isActive: (jobId) => dispatcher.isActive(jobId),
    own: onlyOwn ? (jobId) => own.has(jobId) : undefined,
  });
  const dispatcher = new Dispatcher(context, queue, !onlyOwn);
  plans.onChanged = () => site?.news.tellPlans();
  const work = workDesk(frame, {
    state,
    isOurs: isLead,
    isShared: nodes !== undefined,
    abandon: async (jobId, why) => {
      await cancelJob(parts, jobId, false, why);
    },
    trouble,
  });
  const newHooks = () => hookDesk(frame, state, own, trouble);
  for (const ending of endings) hub.on(ending, () => parts.hooks.kick());
  const parts: FleetParts = {
    state,
    lock,
    spares,
    board,
    pauses,
    context,
    dispatcher,
    queue,
    hooks: newHooks(),
    newHooks,
    work,
    plans,
    errands: new Turns(),
    own,
    watched,
    live,
    nodes,
  };
  return parts;
}

/** What is refused as a lost node's is nobody's fault: the node finds out at once and comes back. */
function heedingFences(trouble: FleetFrame["trouble"], nodes: Membership): FleetFrame["trouble"] {
  return (message, cause) => {
    if (isFenced(cause)) nodes.beat();
    else trouble(message, cause);
  };
}

function waitingRunners(
  { loaded, trouble }: FleetFrame,
  { stateDir }: StateManager,
  sweepContainers: () => void,
) {
  const sweep = () =>
    sweepLiveFolders(stateDir)
      .catch((error) => trouble("what a runner left is not swept", error))
      .then(sweepContainers);
  return new WaitingRunners(() => loaded().fleet.fleet.live, sweep);
}

/** Whichever way a job came to its end: the record is made, and its hooks may start. */
const endings = ["job:completed", "job:failed", "job:cancelled", "job:skipped"] as const;

function hookDesk(
  { hub, loaded, onlyOwn }: FleetFrame,
  state: StateManager,
  own: ReadonlySet<string>,
  trouble: FleetFrame["trouble"],
): HookDesk {
  return new HookDesk({
    state,
    fleet: () => loaded().fleet,
    environment: () => loaded().environment,
    concerns: (jobId) => !onlyOwn || own.has(jobId),
    onAttempt: (hook) => hub.emit({ type: "hook:tried", hook }),
    trouble,
  });
}

function workDesk(
  { hub, loaded }: FleetFrame,
  given: Omit<WorkDeskOptions, "fleet" | "environment">,
): WorkDesk {
  const work = new WorkDesk({
    ...given,
    fleet: () => loaded().fleet,
    environment: () => loaded().environment,
  });
  for (const ending of endings) hub.on(ending, () => work.kick());
  return work;
}
