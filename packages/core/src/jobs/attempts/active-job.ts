import { outputSchemaOf, type ResolvedAgent } from "@herdctl/config";
import {
  type Job,
  type ProcessIdentity,
  type SessionLeaseHolder,
  UserError,
} from "@herdctl/protocol";
import { dropUndefined } from "../../lib/canonical-json.ts";
import { waitForExit } from "../../lib/process-identity.ts";
import { retryWhileUnavailable } from "../../lib/retry.ts";
import { waitForAbort } from "../../lib/timeout.ts";
import type { RunOrder } from "../../runner/contract/run-order.ts";
import type { RunReport } from "../../runner/contract/run-report.ts";
import { collectRunReport } from "../../runner/recovery/collect-report.ts";
import type { StartedRunner } from "../../runner-pool/runner-pool.ts";
import { failPoint } from "../../testing/failpoints.ts";
import { runGateBeforeStart } from "../gates.ts";
import type { JobServices, RunningJob, Shipment, StopReason } from "../services.ts";
import { ApprovalRequests } from "./approval-requests.ts";
import { type BeginAttemptHooks, beginAttempt, defaultOutcome } from "./begin-attempt.ts";
import type { WatchedRun } from "./budget-watch.ts";
import { agentConfigHash, type PrestartedProcess } from "./prestarted-processes.ts";
import { OutputTailer, RunnerConnection } from "./runner-connection.ts";
import {
  endEventOf,
  type NextStep,
  needsEarlierAttempts,
  nextStep,
  type SessionContext,
  settleRun,
} from "./settle-run.ts";

/** A job in progress, from its claim until its attempt is recorded. */
export class ActiveJob implements RunningJob {
  private readonly stopping = new AbortController();
  private readonly detaching = new AbortController();
  /** Aborted when the result of the gate is no longer needed. */
  private readonly gateAbort = new AbortController();
  private pendingGate: Promise<Job> | undefined;
  private tailer: OutputTailer | undefined;
  private shipment: Shipment | undefined;
  private connection: RunnerConnection | undefined;
  private budget: WatchedRun | undefined;
  private exited: Promise<unknown> | undefined;
  private isAbandoned = false;
  private readonly runner: RunnerSlot;

  constructor(
    private readonly services: JobServices,
    private job: Job,
  ) {
    this.runner = new RunnerSlot(services, job);
  }

  get id(): string {
    return this.job.id;
  }

  get agent(): string {
    return this.job.agent;
  }

  get startedAt(): string {
    return this.job.started_at ?? this.job.created_at;
  }

  get activity(): string {
    return this.tailer?.activity ?? (this.pendingGate ? "running its gate" : "starting");
  }

  /** Starts a new attempt, unless the gate is closed. */
  async start(agent: ResolvedAgent): Promise<void> {
    this.pendingGate = runGateBeforeStart(this.services, agent, this.job, this.gateAbort.signal);
    this.job = await this.pendingGate;
    this.pendingGate = undefined;
    if (this.job.status === "skipped") return this.announceEnd();
    if (!this.gateAbort.signal.aborted) return this.attempt(agent);
    if (this.stopping.signal.reason === "cancelled") return this.cancelBeforeStart();
    // Otherwise the job stays in the queue for the next fleet process.
  }

  /** Prepares the attempt here; a runner process executes it. */
  private async attempt(agent: ResolvedAgent): Promise<void> {
    const { state, hub, cluster } = this.services;
    if (cluster)
      await this.retryWrite(() => cluster.shipper.fetchEarlierOutput(this.job, cluster.nodes.id));
    const environment = dropUndefined(this.services.environment());
    const request = {
      state,
      job: this.job,
      agent,
      environment,
      claudePath: this.services.fleet().claude_path,
      partialMessages: this.services.isWatched(this.job.id),
      live: this.services.isConversation(this.job),
      freshSession: () => this.runner.takePrestarted(agent)?.sessionId,
      signal: this.stopping.signal,
      spend: () => this.services.budgets.planFor(this.job),
      by: cluster && { node: cluster.nodes.id, epoch: cluster.nodes.epoch },
      nodeOf: cluster && ((id: string) => cluster.nodes.find(id)),
    };
    const attempt = this.job.attempts + 1;
    const hooks: BeginAttemptHooks = {
      onRefused: (outcome) => this.decideNextStep({ attempt, outcome, crashed: false }),
      reserveRunner: (order) => this.runner.acquire(order).identity,
    };
    const begun = await this.retryWrite(() => beginAttempt(request, hooks)).catch((error) => {
      this.runner.end();
      throw error;
    });
    this.job = begun.job;
    if (begun.kind === "refused") this.announceEnd();
    if (begun.kind !== "begun") return this.runner.end();

    failPoint("attempt begun");
    const { order, sessionContext, holder } = begun;
    const runner = this.runner.acquire(order);
    runner.assign({ stateDir: state.stateDir, order, environment, lease: this.services.lease() });
    failPoint("runner spawned");
    hub.emit({ type: "job:started", job: this.job });
    this.tailer = new OutputTailer(this.services, this.job, false);
    this.shipment = cluster?.shipper.follow(this.job);
    await this.follow(runner.exited, sessionContext, holder, this.tailer);
  }

  /** Follows an attempt that an earlier fleet process started and that still runs. */
  async reattach(runner: ProcessIdentity, sessionContext: SessionContext): Promise<void> {
    this.tailer = new OutputTailer(this.services, this.job, true);
    this.shipment = this.services.cluster?.shipper.follow(this.job);
    const exited = waitForExit(runner, this.detaching.signal);
    await this.follow(exited, sessionContext, this.leaseHolderOf(runner), this.tailer);
  }

  private leaseHolderOf(runner: ProcessIdentity): SessionLeaseHolder {
    const { cluster } = this.services;
    return { ...runner, job_id: this.job.id, ...(cluster && { node: cluster.nodes.id }) };
  }

  /** Settles an attempt whose runner is dead, from the files it left. */
  async settleDeadAttempt(
    sessionContext: SessionContext,
    holder: SessionLeaseHolder,
  ): Promise<void> {
    await this.settle(sessionContext, holder);
  }

  stop(reason: StopReason, force = false): void {
    this.stopping.abort(reason);
    this.gateAbort.abort();
    this.connection?.stop(reason, force);
  }

  /** Records nothing more. The next fleet process adopts the job. */
  async detach(): Promise<void> {
    this.detaching.abort();
    this.gateAbort.abort();
    await this.pendingGate?.catch(() => undefined);
    void this.tailer?.end();
    this.shipment?.detach();
    this.budget?.close();
    void this.connection?.close();
    this.runner.detach();
  }

  /** Ends the runner and records nothing, because another node may have taken over the job. */
  async abandon(): Promise<void> {
    this.isAbandoned = true;
    this.connection?.stop("interrupted", true);
    await this.detach();
    this.runner.end();
    await this.exited;
  }

  /** Writes nothing after `abandon`, even if the node may write again by then. */
  private retryWrite<T>(write: () => Promise<T>): Promise<T> {
    return retryWhileUnavailable(this.services, async () => {
      if (this.isAbandoned)
        throw new UserError("node_fenced", `${this.id} no longer belongs to this node`);
      return write();
    });
  }

  private async cancelBeforeStart(): Promise<void> {
    const outcome = defaultOutcome("cancelled");
    const change = { status: "cancelled" as const, outcome, due_at: null };
    const { state } = this.services;
    const update = await this.retryWrite(() => state.jobs.update(this.id, change));
    this.job = update.job;
    this.announceEnd();
  }

  private async follow(
    exited: Promise<unknown>,
    sessionContext: SessionContext,
    holder: SessionLeaseHolder,
    tailer: OutputTailer,
  ): Promise<void> {
    this.exited = exited;
    const { state, hub } = this.services;
    const run = { jobId: this.job.id, attempt: this.job.attempts };
    const jobDir = state.jobDir(run.jobId);
    const approvals = new ApprovalRequests(state, run, this.services.askPerson(run.jobId), {
      agent: () => this.configuredAgent,
      onJobChanged: (job) =>
        hub.emit({ type: job.status === "waiting" ? "job:waiting" : "job:started", job }),
      onExpired: (approval) => hub.emit({ type: "approval:answered", approval }),
    });
    const [stopping, detaching] = [this.stopping.signal, this.detaching.signal];
    this.connection = new RunnerConnection(
      { jobDir, attempt: run.attempt },
      approvals,
      (request, signal) =>
        this.services.handleToolCall({
          jobId: run.jobId,
          request,
          approvals,
          signal,
          stopping,
          detaching,
        }),
      (error) => this.services.reportError(`Failed to forward a request of ${run.jobId}`, error),
      (spent) => this.budget?.report(spent),
    );
    this.budget = this.services.budgets.watch(this.job, (limits) =>
      this.connection?.setSpendLimits(limits),
    );
    if (this.stopping.signal.aborted) this.connection.stop(this.stopping.signal.reason, false);
    // A runner that has written its outcome may keep running: its `claude` may wait for the next
    // turn.
    await Promise.race([this.connection.reported, exited, waitForAbort(this.detaching.signal)]);
    if (this.detaching.signal.aborted) return;
    const outputForwarded = tailer.end();
    await this.connection.close();
    await this.settle(sessionContext, holder, outputForwarded);
  }

  /** The end of an attempt is published only after all its output was forwarded. */
  private async settle(
    sessionContext: SessionContext,
    holder: SessionLeaseHolder,
    outputForwarded?: Promise<void>,
  ): Promise<void> {
    const { state, cluster } = this.services;
    const report = await this.retryWrite(() =>
      collectRunReport({
        stateDir: state.stateDir,
        job: this.job,
        environment: this.services.environment(),
        agent: this.configuredAgent,
      }),
    );
    failPoint("report read");
    // The shared store gets the output before the end, because readers of the end expect all
    // output.
    this.shipment ??= cluster?.shipper.follow(this.job);
    await this.shipment?.end();
    // Once the end is recorded, the next job may start, so the output is forwarded first.
    await outputForwarded;
    this.budget?.close();
    this.job = await this.retryWrite(async () =>
      settleRun(state, report, sessionContext, holder, await this.decideNextStep(report)),
    );
    this.services.budgets.refresh();
    failPoint("run settled");
    this.runner.onTurnEnded(report.session_id, this.job.status === "completed");
    this.announceEnd();
    failPoint("job cleaned");
    await this.services.onAttemptEnded(this.job.agent, report.outcome);
  }

  private get configuredAgent(): ResolvedAgent | undefined {
    return this.services.fleet().agents.find(({ name }) => name === this.job.agent);
  }

  private async decideNextStep({
    attempt,
    outcome,
    crashed,
  }: Pick<RunReport, "attempt" | "outcome" | "crashed">): Promise<NextStep> {
    const agent = this.configuredAgent;
    // After a stop, or if the agent no longer exists, the outcome is final.
    if (this.stopping.signal.aborted || !agent) return { kind: "finish", outcome };
    const { jobs } = this.services.state;
    const attempts = needsEarlierAttempts(outcome) ? await jobs.listAttempts(this.job.id) : [];
    const { retry } = agent;
    return nextStep({
      attempt,
      outcome,
      crashed,
      attempts,
      retry,
      now: new Date(),
      random: Math.random(),
    });
  }

  private announceEnd(): void {
    this.services.hub.emit(endEventOf(this.job));
  }
}

/** The runner process of one attempt: an idle one of the session, a prestarted one, or a new one. */
class RunnerSlot {
  private prestarted: PrestartedProcess | undefined;
  private acquired: { runner: StartedRunner; order: RunOrder; isReused: boolean } | undefined;

  constructor(
    private readonly services: JobServices,
    private readonly job: Pick<Job, "id" | "schedule">,
  ) {}

  /** Prestarted processes cannot serve watched jobs or jobs that must submit a report. */
  takePrestarted(agent: ResolvedAgent): PrestartedProcess | undefined {
    const { id, schedule } = this.job;
    if (agent.keep_alive.processes === 0) return undefined;
    if (this.services.isWatched(id) || outputSchemaOf(agent, schedule)) return undefined;
    this.prestarted ??= this.services.prestartedProcesses.take(agent.name);
    return this.prestarted;
  }

  acquire(order: RunOrder): StartedRunner {
    if (this.acquired) return this.acquired.runner;
    const { runners, idleRunners } = this.services;
    const { kind, sessionId } = order.session;
    const reused = kind === "resume" ? idleRunners.take(sessionId) : this.prestarted?.runner;
    const runner = reused ?? runners.reserve();
    this.acquired = { runner, order, isReused: reused !== undefined };
    return runner;
  }

  /** Ends the runner if it gets no order, or may no longer execute it. */
  end(): void {
    const runner = this.acquired?.runner ?? this.prestarted?.runner;
    if (runner) this.services.endingRunners.end(runner);
  }

  /** Leaves the runner to the next fleet process. */
  detach(): void {
    this.acquired?.runner.release();
  }

  /** Keeps the runner for the next turn if this one succeeded, otherwise ends it. */
  onTurnEnded(sessionId: string, isSuccessful: boolean): void {
    if (!this.acquired?.order.keepAlive && !this.acquired?.isReused) return;
    const { runner, order } = this.acquired;
    const { name: agent, keep_alive } = order.agent;
    if (!order.keepAlive || !isSuccessful) {
      this.services.endingRunners.end(runner);
      return;
    }
    const agentHash = agentConfigHash(this.services, agent) ?? "";
    const idleTimeoutMs = keep_alive.sessions;
    this.services.idleRunners.keep({ sessionId, agent, agentHash, runner, idleTimeoutMs });
  }
}
