import { join } from "node:path";
import type { ChatDesk } from "../chat/chat-desk.ts";
import type { LoadedFleet } from "../config/load.ts";
import { HookDesk } from "../hooks/hook-desk.ts";
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
import { cancelJob } from "./cancel-job.ts";
import type { ConfigWatch } from "./config-watch.ts";
import type { ContainerWatch } from "./container-watch.ts";
import type { FleetContext } from "./context.ts";
import { Dispatcher } from "./dispatcher.ts";
import { Turns } from "./errands/turns.ts";
import type { EventHub } from "./event-hub.ts";
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
  hooks: HookDesk;
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
}

export interface FleetFrame {
  hub: EventHub;
  problems: Problems;
  loaded(): LoadedFleet;
  spares?: SparePool;
  onlyOwn: boolean;
  unattended: boolean;
  errand: FleetContext["errand"];
  trouble(message: string, cause?: unknown): void;
}

/** Takes the lock, opens the state and puts the parts together. Nothing runs yet. */
export async function openParts(frame: FleetFrame): Promise<FleetParts> {
  const { stateDir } = frame.loaded().fleet;
  const lock = acquireLock(stateDir);
  try {
    const dayName = (at: Date) => dayOf(at, frame.loaded().fleet.fleet.timezone).name;
    const state = await new StateManager(stateDir).open({ dayName });
    const plans = new OwnPlans(state, frame.hub);
    await plans.read();
    return assemble(frame, state, plans, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function assemble(frame: FleetFrame, state: StateManager, plans: OwnPlans, lock: Lock): FleetParts {
  const { hub, problems, loaded, onlyOwn, unattended, trouble } = frame;
  const [own, watched, live] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const size = loaded().fleet.fleet.warm ? 1 : 0;
  const spares = frame.spares ?? new SparePool({ scratch: join(state.stateDir, "spares"), size });
  const board = new ApprovalBoard(state, hub);
  const pauses = new AgentPauses(state, hub, loaded);
  const concluded = async (agent: string, outcome: Outcome) => {
    dispatcher.heed(outcome);
    if (outcome.code === "docker_unavailable") parts.containers?.sweep();
    if (!onlyOwn) await pauses.heed(agent, outcome);
  };
  const configured = {
    state,
    fleet: () => plans.over(loaded().fleet),
    environment: () => loaded().environment,
    trouble,
  };
  const waiting = waitingRunners(frame, state, () => parts.containers?.sweep());
  const context: FleetContext = {
    ...configured,
    hub,
    spares,
    waiting,
    warm: new WarmClaudes({ ...configured, spares, waiting }),
    spareContainers: new SpareContainers(configured),
    isWatched: (jobId) => watched.has(jobId),
    isLive: ({ id, trigger_type }) => !onlyOwn && (trigger_type === "chat" || live.has(id)),
    askPerson: (jobId) => (unattended && own.has(jobId) ? undefined : board.ask),
    errand: frame.errand,
    takeWork: (agent) => work.take(agent),
    decidedOn: (jobId) => work.decidedOn(jobId),
    concluded,
    writable: (problem) => problems.set("state", problem),
  };
  const dispatcher = new Dispatcher(context, onlyOwn ? own : undefined);
  const work = workDesk(frame, state, async (jobId, why) => {
    await cancelJob(parts, jobId, false, why);
  });
  const hooks = hookDesk(frame, state, own);
  const parts: FleetParts = {
    state,
    lock,
    spares,
    board,
    pauses,
    context,
    dispatcher,
    hooks,
    work,
    plans,
    errands: new Turns(),
    own,
    watched,
    live,
  };
  return parts;
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

function hookDesk(frame: FleetFrame, state: StateManager, own: ReadonlySet<string>): HookDesk {
  const { hub, loaded, onlyOwn, trouble } = frame;
  const hooks = new HookDesk({
    state,
    fleet: () => loaded().fleet,
    environment: () => loaded().environment,
    concerns: (jobId) => !onlyOwn || own.has(jobId),
    onAttempt: (hook) => hub.emit({ type: "hook:tried", hook }),
    trouble,
  });
  for (const ending of endings) hub.on(ending, () => hooks.kick());
  return hooks;
}

function workDesk(
  { hub, loaded, trouble }: FleetFrame,
  state: StateManager,
  abandon: WorkDeskOptions["abandon"],
): WorkDesk {
  const work = new WorkDesk({
    state,
    fleet: () => loaded().fleet,
    environment: () => loaded().environment,
    abandon,
    trouble,
  });
  for (const ending of endings) hub.on(ending, () => work.kick());
  return work;
}
