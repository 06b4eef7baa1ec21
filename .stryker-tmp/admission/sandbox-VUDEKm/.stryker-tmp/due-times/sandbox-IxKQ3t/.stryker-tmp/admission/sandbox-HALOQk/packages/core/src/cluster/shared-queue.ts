import type { Job, Node, NodeAssignment, UnfinishedJob } from "@herdctl/protocol";
import { type ClaimLimits, nextDue, occupiesAgentSlot } from "../jobs/dispatch/claim.ts";
import type { Assignments, NodeCommandHandlers, Queue } from "../jobs/dispatch/queue-interface.ts";
import type { JobStore } from "../store/contracts/job-store.ts";
import type {
  AssignmentDecider,
  AssignmentDecision,
  AssignmentSnapshot,
} from "../store/model/assignment.ts";
import type { NodeCommandBus } from "./node-command-bus.ts";
import type { NodeCommand } from "./node-commands.ts";
import {
  type AssignmentRules,
  isAssignedButNotStarted,
  planAssignments,
} from "./plan-assignments.ts";

export interface SharedQueueOptions {
  jobs: Pick<JobStore, "assign">;
  commandBus: Pick<NodeCommandBus, "start" | "send" | "stop">;
  /** This node, as of its last join. */
  currentNode(): Pick<Node, "id" | "epoch">;
  /** All nodes, as of the last heartbeat. */
  knownNodes(): readonly Node[];
  /** False while a different configuration than the one of this process is in force. */
  canAssign(): boolean;
  rules(): Pick<AssignmentRules, "placementRules" | "latestSessionQuery">;
  /** A process with `ownJobsOnly` assigns only its own jobs, and runs them itself if possible. */
  isOwnJob?: (jobId: string) => boolean;
  /** The job was started here, although its record does not show it yet. */
  isActive(jobId: string): boolean;
}

/** A command is not sent again before this; most jobs have started by then. */
const resendDelayMs = 2_000;
const maxRememberedKeys = 10_000;
/**
 * With more unfinished jobs than this, a new job probably waits, so no write transaction is tried
 * first.
 */
const shortQueueLength = 20;

/**
 * The queue of nodes that share a store. The node that looks decides for all: limits, fairness and
 * placement are settled in one transaction, and assignments are recorded before they are sent.
 * Commands only speed things up: each node also finds its assignments in the store.
 */
export class SharedQueue implements Queue {
  readonly pollIntervalMs = 1_000;
  private readonly sentCommands = new Set<string>();
  private readonly recordedNotes = new Set<string>();
  private length = 0;

  constructor(private readonly options: SharedQueueOptions) {}

  async start(handlers: NodeCommandHandlers): Promise<void> {
    await this.options.commandBus.start({
      handleCommand: (command) => this.handleCommand(command, handlers),
      handleDeadLetter: (command) => this.unassignCommand(command),
    });
  }

  async assign(limits: ClaimLimits, now: Date, isNew = false): Promise<Assignments> {
    let live: readonly UnfinishedJob[] = [];
    const { jobs, currentNode, canAssign, rules } = this.options;
    const { id } = currentNode();
    const decide: AssignmentDecider = (facts) => {
      live = facts.liveJobs;
      if (!canAssign()) return emptyDecision;
      return planAssignments(
        this.restrictToOwnJobs(facts),
        { ...limits, ...rules(), servedAt: facts.lastAssigned },
        id,
        now,
      );
    };
    // Most passes find nothing to do, and a writer blocks all others, so a read comes first.
    const isWorkLikely = isNew && this.length < shortQueueLength;
    const hasWork = isWorkLikely || this.hasWork(await jobs.assign(decide, "look"));
    const decision = hasWork ? await jobs.assign(decide, "write") : emptyDecision;
    this.length = live.length;
    for (const note of decision.waitWarnings) rememberKey(this.recordedNotes, noteKey(note));
    const assignedHere = decision.assign
      .filter(({ assigned }) => assigned.node === id)
      .map(({ id }) => id);
    const unstartedHere = this.findUnstartedHere(live).filter(
      (jobId) => !assignedHere.includes(jobId),
    );
    for (const { id: jobId, assigned } of decision.assign)
      if (assigned.node !== id) await this.sendBeginCommand(jobId, assigned);
    await this.resendCommands(live, now);
    return {
      startHere: [...unstartedHere, ...assignedHere],
      nextDue: nextDue(live, limits, now),
      unfinishedCount: live.length,
    };
  }

  isOurs(job: Job): boolean {
    const { id, epoch } = this.options.currentNode();
    const { assigned } = job;
    return isAssignedButNotStarted(job) && assigned?.node === id && assigned.epoch === epoch;
  }

  async cancel(job: Job, force: boolean): Promise<boolean> {
    const node = job.assigned?.node ?? (occupiesAgentSlot(job) ? job.node : null);
    if (node === null || node === this.options.currentNode().id || this.isNodeGone(node))
      return false;
    const isSent = await this.options.commandBus.send(node, { kind: "cancel", job: job.id, force });
    // A job that has not started is also ended in its record, so that it never starts.
    return isSent && !isAssignedButNotStarted(job);
  }

  async reload(): Promise<void> {
    const others = this.options
      .knownNodes()
      .filter(({ id }) => id !== this.options.currentNode().id);
    for (const { id, status } of others)
      if (status === "live") await this.options.commandBus.send(id, { kind: "reload" });
  }

  async stop(): Promise<void> {
    await this.options.commandBus.stop();
  }

  /** Other nodes assign nothing to this process, because its role runs no jobs. */
  private restrictToOwnJobs(facts: AssignmentSnapshot): AssignmentSnapshot {
    const { isOwnJob, currentNode } = this.options;
    if (!isOwnJob) return facts;
    const { id } = currentNode();
    return {
      ...facts,
      liveJobs: facts.liveJobs.filter((job) => occupiesAgentSlot(job) || isOwnJob(job.id)),
      nodes: facts.nodes.map((node) => (node.id === id ? { ...node, role: "worker" } : node)),
    };
  }

  private hasWork({ assign, unassign, waitWarnings }: AssignmentDecision): boolean {
    if (assign.length > 0 || unassign.length > 0) return true;
    return waitWarnings.some((note) => !this.recordedNotes.has(noteKey(note)));
  }

  private async handleCommand(command: NodeCommand, handlers: NodeCommandHandlers): Promise<void> {
    if (command.kind === "begin") {
      // A process that is about to stop returns jobs that it does not start any more.
      if (!(await handlers.begin(command.job))) await this.unassignCommand(command);
    } else if (command.kind === "cancel") await handlers.cancel(command.job, command.force);
    else await handlers.reload();
  }

  /** The node could not start the job after several attempts. */
  private async unassignCommand(command: NodeCommand): Promise<void> {
    if (command.kind !== "begin") return;
    const isSameAssignment = ({ id, assigned }: UnfinishedJob) =>
      id === command.job &&
      assigned?.at === command.assigned.at &&
      assigned.node === command.assigned.node;
    const decide: AssignmentDecider = ({ liveJobs }) => {
      const toUnassign = liveJobs.filter(
        (job) => isSameAssignment(job) && isAssignedButNotStarted(job),
      );
      return { ...emptyDecision, unassign: toUnassign.map(({ id }) => id) };
    };
    const { jobs } = this.options;
    // Usually the job has started or ended by now.
    if (this.hasWork(await jobs.assign(decide, "look"))) await jobs.assign(decide, "write");
  }

  /**
   * Assignments whose command was lost, or whose attempt was interrupted before it was recorded.
   */
  private findUnstartedHere(live: readonly UnfinishedJob[]): string[] {
    const { currentNode, isActive } = this.options;
    const { id, epoch } = currentNode();
    return live
      .filter(
        (job) =>
          isAssignedButNotStarted(job) && job.assigned?.node === id && job.assigned.epoch === epoch,
      )
      .map((job) => job.id)
      .filter((jobId) => !isActive(jobId));
  }

  /** The node that should have sent it may be gone. */
  private async resendCommands(live: readonly UnfinishedJob[], now: Date): Promise<void> {
    for (const job of live) {
      const { assigned } = job;
      if (
        !assigned ||
        !isAssignedButNotStarted(job) ||
        assigned.node === this.options.currentNode().id
      )
        continue;
      if (now.getTime() - Date.parse(assigned.at) < resendDelayMs) continue;
      if (!this.sentCommands.has(`${job.id} ${assigned.at}`))
        await this.sendBeginCommand(job.id, assigned);
    }
  }

  private async sendBeginCommand(job: string, assigned: NodeAssignment): Promise<void> {
    const isSent = await this.options.commandBus.send(assigned.node, {
      kind: "begin",
      job,
      assigned,
    });
    if (isSent) rememberKey(this.sentCommands, `${job} ${assigned.at}`);
  }

  /** A node that is not known yet may be live. */
  private isNodeGone(nodeId: string): boolean {
    return this.options.knownNodes().some(({ id, status }) => id === nodeId && status !== "live");
  }
}

const emptyDecision: AssignmentDecision = {
  assign: [],
  waitWarnings: [],
  affinityQueries: [],
  unassign: [],
};

function noteKey({ id, warning }: { id: string; warning: string }): string {
  return `${id} ${warning}`;
}

/** These keys only save work, so they may be forgotten. */
function rememberKey(keys: Set<string>, key: string): void {
  if (keys.size >= maxRememberedKeys) keys.clear();
  keys.add(key);
}
