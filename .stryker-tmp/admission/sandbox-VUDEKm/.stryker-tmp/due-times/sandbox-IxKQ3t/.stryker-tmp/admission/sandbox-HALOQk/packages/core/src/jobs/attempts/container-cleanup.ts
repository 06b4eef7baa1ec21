import type { Job } from "@herdctl/protocol";
import type { ContainerJob } from "../../docker/container-labels.ts";
import { ContainerManager } from "../../docker/container-manager.ts";
import { removeFinishedContainers } from "../../docker/remove-containers.ts";
import { runTokenOf } from "../../lib/run-token.ts";
import { isRunTokenInUse } from "../../runner/contract/keep-alive-folder.ts";
import { collectLateCommits } from "../../runner/recovery/collect-late-commits.ts";
import type { JobServices } from "../services.ts";

type CleanupServices = Pick<
  JobServices,
  "state" | "nodeId" | "environment" | "fleet" | "reportError"
>;

const retryDelayMs = 10_000;

/**
 * Removes unused containers of this fleet and their git directories: at startup, after a run whose
 * engine was unavailable, and after the end of a runner that may have kept a container. If the
 * engine does not answer, the cleanup is retried.
 */
export class ContainerCleanup {
  private timer: NodeJS.Timeout | undefined;
  private currentSweep: Promise<void> | undefined;
  private state: "new" | "started" | "stopped" = "new";
  private isSweepPending = false;

  constructor(private readonly services: CleanupServices) {}

  start(): void {
    this.state = "started";
    this.sweep();
  }

  /** Starts a sweep, because something may have been left. */
  sweep(): void {
    clearTimeout(this.timer);
    if (this.state !== "started" || !this.hasContainers()) return;
    // The current sweep may miss what was left just now, so another one follows.
    this.isSweepPending = this.currentSweep !== undefined;
    this.currentSweep ??= this.sweepUntilIdle().finally(() => {
      this.currentSweep = undefined;
    });
  }

  async stop(): Promise<void> {
    this.state = "stopped";
    clearTimeout(this.timer);
    await this.currentSweep;
  }

  private async sweepUntilIdle(): Promise<void> {
    await this.trySweep();
    if (!this.isSweepPending) return;
    this.isSweepPending = false;
    await this.sweepUntilIdle();
  }

  private async trySweep(): Promise<void> {
    const { state } = this.services;
    try {
      const manager = await ContainerManager.connect(this.services.environment());
      await removeFinishedContainers(manager, state.stateDir, async (run) => {
        if (isRunTokenInUse(state.stateDir, runTokenOf(run))) return false;
        return this.isOver(run);
      });
      // No container writes to these directories any more.
      const leftovers = await collectLateCommits(state.stateDir, (run) => this.isOver(run));
      for (const { jobId, git, warnings } of leftovers) {
        const commits = git ? [`its commits are in ${git.ref ?? git.other_refs.join(", ")}`] : [];
        this.services.reportError(
          `${jobId} left a git directory: ${[...commits, ...warnings].join("; ")}`,
        );
      }
    } catch {
      if (this.state === "started")
        this.timer = setTimeout(() => this.sweep(), retryDelayMs).unref();
    }
  }

  private async isOver({ jobId }: ContainerJob): Promise<boolean> {
    const { state, nodeId } = this.services;
    const job = await state.jobs.get(jobId);
    return job === undefined || !isRunningOnNode(job, nodeId);
  }

  private hasContainers(): boolean {
    return this.services.fleet().agents.some(({ docker }) => docker.enabled);
  }
}

/** A job that waits for a person has a live runner. */
export function isRunningOnNode(
  { status, due_at, node }: Pick<Job, "status" | "due_at" | "node">,
  nodeId: string | undefined,
): boolean {
  if (nodeId !== undefined && /* defence: other-node-job */ node !== nodeId) return false;
  return status === "running" || (status === "waiting" && due_at === null);
}
