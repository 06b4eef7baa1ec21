import type { Environment } from "../config/environment.ts";
import type { Fleet } from "../config/load.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import type { AskPerson } from "../runner/approval-desk.ts";
import type { SparePool } from "../runner-process/spare.ts";
import type { WaitingRunners } from "../runner-process/waiting-runners.ts";
import type { ErrandAnswer } from "../state/errand.ts";
import type { Job } from "../state/job.ts";
import type { RunnerLease } from "../state/lease-file.ts";
import type { Outcome } from "../state/outcome.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { Taken } from "../work/work-desk.ts";
import type { BudgetWatch } from "./budget-watch.ts";
import type { Errand } from "./errands/errand.ts";
import type { EventHub } from "./event-hub.ts";
import type { LookAhead } from "./look-ahead.ts";
import type { NodeSite } from "./nodes/node-site.ts";
import type { SpareContainers } from "./spare-containers.ts";
import type { WarmClaudes } from "./warm-claudes.ts";

/** What the parts of a running fleet share. */
export interface FleetContext {
  readonly state: StateManager;
  readonly hub: EventHub;
  readonly spares: SparePool;
  readonly spareContainers: SpareContainers;
  readonly waiting: WaitingRunners;
  readonly warm: WarmClaudes;
  readonly ahead: LookAhead;
  /** What runs under way may still spend. */
  readonly budgets: BudgetWatch;
  /** Where nodes share the state. */
  readonly site?: NodeSite;
  /** The configuration in force; a reload replaces it, jobs under way keep theirs. */
  fleet(): Fleet;
  environment(): Environment;
  /** Under which runners go on, where nodes share the store. */
  lease(): RunnerLease | undefined;
  /** Of the configuration that was read here; undefined where no other process could read another. */
  configPrint(): string | undefined;
  /** This node; undefined where the state is this process's own. */
  readonly nodeId: string | undefined;
  /** Whether this process does what only one may. */
  isLead(): boolean;
  /** Somebody wants to see the model speak, and not only what it said. */
  isWatched(jobId: string): boolean;
  /** It is a turn of a conversation that is likely to go on soon. */
  isLive(job: Job): boolean;
  /** How a person is asked for this job; undefined when nobody is there. */
  askPerson(jobId: string): AskPerson | undefined;
  /** Does what a run asks of its fleet; undefined when the next fleet process is to do it. */
  errand(errand: Errand): Promise<ErrandAnswer | undefined>;
  /** An item of the agent's work source, claimed for a job that is still to be admitted. */
  takeWork(agent: ResolvedAgent): Promise<Taken>;
  /** The record tells by now whether there is such a job: its item is looked after, or given back. */
  decidedOn(jobId: string): void;
  /** An attempt is over and recorded. */
  concluded(agent: string, outcome: Outcome): Promise<void>;
  /** Whether the state takes what is written to it, and why not. */
  writable(problem: string | undefined): void;
  /** For what a person should know but no job record tells. */
  trouble(message: string, cause?: unknown): void;
}
