import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import type { Environment, Fleet, ResolvedAgent } from "@herdctl/config";
import { isFinished, type Job, UserError } from "@herdctl/protocol";
import type { SourceClaim, WorkClaimResult } from "../../jobs/admission/work-item.ts";
import { PassRunner } from "../../lib/pass-runner.ts";
import { newJobId } from "../../store/model/ids.ts";
import type { WorkClaim } from "../../store/model/work-claim.ts";
import type { StateManager } from "../../store/state-manager.ts";
import { GitHubSource } from "./github-source.ts";
import type { WorkSource } from "./work-source.ts";

export interface WorkClaimsOptions {
  state: StateManager;
  fleet(): Fleet;
  environment(): Environment;
  /** Whether this process handles claimed items. */
  isResponsible(): boolean;
  /** Another node may be about to admit the job of a claim. */
  isStateShared: boolean;
  /** Ends a job whose item belongs to another claimant now. */
  abandonJob(jobId: string, reason: string): Promise<void>;
  reportError(message: string, cause?: unknown): void;
}

/** After this many failures, a person must look at an item. */
const maxFailures = 3;
const maxCandidates = 20;
const pollIntervalMs = 60_000;
const minPollIntervalMs = 1_000;
const maxAdmissionPendingMs = 60_000;

/**
 * Claims work items from the sources of agents, one for each job, and reports the results back. A
 * claim is recorded before it is made, so that every item can be settled after a crash.
 */
export class WorkClaims {
  private readonly stopAbort = new AbortController();
  /** Jobs that this process is about to admit, with the time of their claim. */
  private readonly pendingAdmissions = new Map<string, number>();
  private readonly sources = new Map<string, WorkSource>();
  private timer: NodeJS.Timeout | undefined;
  private readonly passes = new PassRunner(
    () => this.runPass(),
    () => !this.stopAbort.signal.aborted && this.options.isResponsible(),
  );
  private failures = 0;

  constructor(private readonly options: WorkClaimsOptions) {}

  start(): void {
    this.wake();
  }

  /** Call it when a job has ended, because its item may be settled. */
  wake(): void {
    this.passes.request();
  }

  /** Waits up to `timeoutMs` for items to be settled; the next fleet process continues the rest. */
  async stop(timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (!this.passes.isIdle && Date.now() < deadline) await delay(25);
    clearTimeout(this.timer);
    this.stopAbort.abort();
    await this.passes.whenIdle();
  }

  /** Claims the oldest free item, for a job with the id that is in the claim. */
  async claimNext(agent: ResolvedAgent): Promise<WorkClaimResult> {
    const source = this.sourceOf(agent);
    if (!source) return { kind: "none", why: `\`${agent.name}\` has no work source` };
    const claimed = await this.claimOneFrom(source, agent);
    if (claimed) return claimed;
    const releasedItems = await source.releaseStale();
    const claimedAfterRelease =
      releasedItems.length > 0 ? await this.claimOneFrom(source, agent) : undefined;
    return claimedAfterRelease ?? { kind: "none", why: `No item is available in ${source.name}.` };
  }

  /** The record shows whether the job was admitted; it now decides about its item. */
  onAdmissionDecided(jobId: string): void {
    if (this.pendingAdmissions.delete(jobId)) this.wake();
  }

  private async claimOneFrom(
    source: WorkSource,
    agent: ResolvedAgent,
  ): Promise<WorkClaimResult | undefined> {
    for (const { id, title, url } of await source.listAvailable(maxCandidates)) {
      const { name } = agent;
      const job_id = newJobId(new Date());
      const intended = await this.options.state.workClaims.createClaim({
        agent: name,
        source: source.name,
        item: id,
        title,
        url,
        job_id,
      });
      if (!intended) continue;
      const claimed = await this.claim(source, intended);
      if (claimed) return claimed;
    }
    return undefined;
  }

  private async claim(
    source: WorkSource,
    intended: WorkClaim,
  ): Promise<WorkClaimResult | undefined> {
    const { state, fleet } = this.options;
    const { id, item, agent } = intended;
    this.pendingAdmissions.set(intended.job_id, Date.now());
    const claimant = { claimId: id, fleet: fleet().fleet.name, agent };
    const response = await source.claim(item, claimant).catch((error: unknown) => {
      // It is unknown whether the claim was made; the next pass releases it if so.
      this.pendingAdmissions.delete(intended.job_id);
      throw error;
    });
    if (response.kind === "claimed") {
      const change = { status: "claimed" as const, handle: response.handle };
      return {
        kind: "taken",
        claim: await state.workClaims.updateClaim(id, change),
        item: response.item,
      };
    }
    this.pendingAdmissions.delete(intended.job_id);
    await state.workClaims.updateClaim(id, { status: "released", note: `it was ${response.kind}` });
    return undefined;
  }

  private async runPass(): Promise<void> {
    // Callers that wait for the job get their result first.
    await nextTurn();
    clearTimeout(this.timer);
    if (this.stopAbort.signal.aborted) return;
    try {
      await this.maintainClaims();
    } catch (error) {
      // An unavailable state is reported elsewhere.
      if (!(error instanceof UserError))
        this.options.reportError("Failed to maintain claimed work items", error);
      this.failures += 1;
      this.schedulePoll([]);
    }
  }

  private async maintainClaims(): Promise<void> {
    const open = await this.options.state.workClaims.listOpen();
    const results = [];
    for (const claim of open) results.push(await this.maintainClaim(claim));
    this.failures = results.includes(false) ? this.failures + 1 : 0;
    if (open.length > 0) this.schedulePoll(open);
  }

  private schedulePoll(open: readonly WorkClaim[]): void {
    clearTimeout(this.timer);
    // Polls twice per renewal interval, long before a claim becomes stale.
    const regularIntervalMs = Math.min(
      pollIntervalMs,
      ...open.map((claim) => this.renewIntervalMs(claim) / 2),
    );
    const delayMs =
      this.failures === 0 ? regularIntervalMs : minPollIntervalMs * 2 ** Math.min(this.failures, 8);
    this.timer = setTimeout(() => this.wake(), Math.max(delayMs, minPollIntervalMs)).unref();
  }

  private renewIntervalMs({ agent: name }: WorkClaim): number {
    const agent = this.options.fleet().agents.find((agent) => agent.name === name);
    return (agent?.work_source?.stale_after ?? Number.POSITIVE_INFINITY) / 3;
  }

  /** Returns false if this must be tried again. */
  private async maintainClaim(claim: WorkClaim): Promise<boolean> {
    if (Date.now() - (this.pendingAdmissions.get(claim.job_id) ?? 0) < maxAdmissionPendingMs)
      return true;
    try {
      const agent = this.options.fleet().agents.find(({ name }) => name === claim.agent);
      const source = agent && this.sourceOf(agent);
      // Without its source the claim cannot be released; it becomes stale instead.
      if (!source || source.name !== claim.source) return true;
      const job = await this.options.state.jobs.get(claim.job_id);
      if (!job && this.isBeingAdmittedElsewhere(claim)) return true;
      if (job && !isFinished(job.status)) await this.announceAndRenew(source, claim);
      else await this.settle(source, claim, job);
      return true;
    } catch (error) {
      if (!this.stopAbort.signal.aborted) {
        this.options.reportError(
          `Failed to settle the claim on ${claim.source} ${claim.item}`,
          error,
        );
      }
      return false;
    }
  }

  private isBeingAdmittedElsewhere({ renewed_at }: WorkClaim): boolean {
    return (
      this.options.isStateShared && Date.now() - Date.parse(renewed_at) < maxAdmissionPendingMs
    );
  }

  private async announceAndRenew(source: WorkSource, claim: WorkClaim): Promise<void> {
    if (!claim.announced) {
      await source.announce(this.known(claim));
      await this.options.state.workClaims.updateClaim(claim.id, { announced: true });
    }
    if (Date.now() - Date.parse(claim.renewed_at) < this.renewIntervalMs(claim)) return;
    const response = await source.renew(this.known(claim));
    if (response.kind === "lost") return this.giveUpClaim(claim);
    const renewed_at = new Date().toISOString();
    await this.options.state.workClaims.updateClaim(claim.id, {
      handle: response.handle,
      renewed_at,
    });
  }

  /** Two jobs must not work on the same item, and the other claimant has the right to it. */
  private async giveUpClaim(claim: WorkClaim): Promise<void> {
    const reason = `${claim.source} ${claim.item} was claimed by another fleet while its job was running`;
    await this.options.abandonJob(claim.job_id, reason);
    await this.options.state.workClaims.updateClaim(claim.id, { status: "lost", note: reason });
    this.options.reportError(reason);
  }

  private async settle(source: WorkSource, claim: WorkClaim, job: Job | undefined): Promise<void> {
    const { workClaims } = this.options.state;
    const known = this.known(claim);
    if (job?.status === "completed") {
      const { id: jobId, cost_usd: costUsd } = job;
      const settleResult = await source.complete(known, {
        jobId,
        summary: job.summary ?? "",
        costUsd,
      });
      await workClaims.updateClaim(claim.id, {
        status: settleResult === "done" ? "completed" : "lost",
      });
      return;
    }
    const failed = job?.status === "failed";
    const previousFailures = failed ? await workClaims.countFailures(claim.source, claim.item) : 0;
    const reason = releaseReason(job);
    const needsAttention = failed && previousFailures + 1 >= maxFailures;
    const publicReason = claim.announced ? reason : null;
    const settleResult = await source.release(known, { reason: publicReason, needsAttention });
    const wasNeverClaimed = claim.status === "claiming" && settleResult === "lost";
    const status = settleResult === "done" || wasNeverClaimed ? "released" : "lost";
    await workClaims.updateClaim(claim.id, { status, failed, note: reason });
  }

  private known({ id: claimId, agent, item, handle }: WorkClaim): SourceClaim {
    return { claimId, agent, fleet: this.options.fleet().fleet.name, item, handle };
  }

  /**
   * Cached while the configuration and the token stay the same, because a source caches some
   * responses.
   */
  private sourceOf(agent: ResolvedAgent): WorkSource | undefined {
    if (!agent.work_source) return undefined;
    const environment = this.options.environment();
    const key = JSON.stringify([agent.work_source, environment[agent.work_source.token_env]]);
    const known =
      this.sources.get(key) ?? createWorkSource(agent, environment, this.stopAbort.signal);
    if (known) this.sources.set(key, known);
    return known;
  }
}

function releaseReason(job: Job | undefined): string {
  if (!job) return "The fleet stopped before the job started.";
  return `Not done: ${job.outcome?.message ?? job.status} (${job.outcome?.code ?? "?"}, ${job.id})`;
}

/** The work source of an agent, if it has one. */
function createWorkSource(
  { work_source: config, name }: ResolvedAgent,
  environment: Environment,
  signal: AbortSignal,
): WorkSource | undefined {
  if (!config) return undefined;
  const token = environment[config.token_env];
  if (token) return new GitHubSource(config, token, signal);
  throw new UserError(
    "work_source_failed",
    `\`${name}\` has no token: ${config.token_env} is not set`,
  );
}
