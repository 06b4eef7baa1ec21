import type { ResolvedAgent } from "../config/resolve.ts";
import { UserError } from "../errors/user-error.ts";
import { failPoint } from "../faults/fail-point.ts";
import { ApprovalDesk } from "../runner/approval-desk.ts";
import { type AttemptHands, beginAttempt, plainOutcome } from "../runner/begin-attempt.ts";
import { dependsOnEarlier, type NextStep, nextStep } from "../runner/next-step.ts";
import type { RunOrder } from "../runner/run-order.ts";
import type { RunReport } from "../runner/run-report.ts";
import { type AttemptedAt, settleRun } from "../runner/settle-run.ts";
import type { RunnerAssignment } from "../runner-process/contract.ts";
import { readReport, reportOfDead } from "../runner-process/recover.ts";
import type { Job } from "../state/job.ts";
import type { ProcessIdentity } from "../state/process-identity.ts";
import type { LeaseHolder } from "../state/session.ts";
import type { WatchedRun } from "./budget-watch.ts";
import { ChosenRunner } from "./chosen-runner.ts";
import type { FleetContext } from "./context.ts";
import { definedOnly } from "./defined-only.ts";
import { endEventOf } from "./end-event.ts";
import { passGate } from "./gate-at-start.ts";
import type { Shipment } from "./nodes/output-shipper.ts";
import { aborted, gone } from "./process-gone.ts";
import { Relay } from "./relay.ts";
import { RunnerDesk, type StopReason } from "./runner-desk.ts";
import { whenWritable } from "./when-writable.ts";

/** One job under way, from the moment it is claimed until its attempt is recorded. */
export class ActiveJob {
  private readonly stopping = new AbortController();
  private readonly left = new AbortController();
  /** Its gate need not answer any more. */
  private readonly unasked = new AbortController();
  private atGate: Promise<Job> | undefined;
  private relay: Relay | undefined;
  private shipment: Shipment | undefined;
  private desk: RunnerDesk | undefined;
  private budget: WatchedRun | undefined;
  private exited: Promise<unknown> | undefined;
  private dropped = false;
  private readonly runner: ChosenRunner;

  constructor(
    private readonly context: FleetContext,
    private job: Job,
  ) {
    this.runner = new ChosenRunner(context, job);
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

  get doing(): string {
    return this.relay?.doing ?? (this.atGate ? "asking its gate" : "starting");
  }

  /** A new attempt, unless a gate keeps it out. */
  async start(agent: ResolvedAgent): Promise<void> {
    this.atGate = passGate(this.context, agent, this.job, this.unasked.signal);
    this.job = await this.atGate;
    this.atGate = undefined;
    if (this.job.status === "skipped") return this.announceEnd();
    if (!this.unasked.signal.aborted) return this.attempt(agent);
    if (this.stopping.signal.reason === "cancelled") return this.cancelUnbegun();
    // Left as it is: the next fleet finds it in the queue.
  }

  /** Prepared here, carried out by a process of its own. */
  private async attempt(agent: ResolvedAgent): Promise<void> {
    const { state, hub, site } = this.context;
    if (site) await this.written(() => site.shipper.bringHere(this.job, site.nodes.id));
    const environment = definedOnly(this.context.environment());
    const request = {
      state,
      job: this.job,
      agent,
      environment,
      claudePath: this.context.fleet().claude_path,
      partialMessages: this.context.isWatched(this.job.id),
      live: this.context.isLive(this.job),
      freshSession: () => this.runner.takeWarm(agent)?.sessionId,
      signal: this.stopping.signal,
      around: this.context.ahead.take(agent),
      spend: () => this.context.budgets.planFor(this.job),
      by: site && { node: site.nodes.id, epoch: site.nodes.epoch },
      nodeOf: site && ((id: string) => site.nodes.find(id)),
    };
    const attempt = this.job.attempts + 1;
    const assignmentOf = (order: RunOrder): RunnerAssignment => ({
      ...{ stateDir: state.stateDir, order, environment },
      ...{ lease: this.context.lease(), spare: this.runner.spare },
    });
    const hands: AttemptHands = {
      afterRefusal: (outcome) => this.next({ attempt, outcome, crashed: false }),
      runnerFor: (order) => {
        const runner = this.runner.for(order);
        if (this.runner.mayPrepare(order)) runner.prepare(assignmentOf(order));
        return runner.identity;
      },
    };
    const begun = await this.written(() => beginAttempt(request, hands)).catch(async (error) => {
      await this.runner.letGo();
      throw error;
    });
    this.job = begun.job;
    if (begun.kind === "refused") this.announceEnd();
    if (begun.kind !== "begun") return this.runner.letGo();

    failPoint("attempt begun");
    const { order, at, holder } = begun;
    const runner = this.runner.for(order);
    runner.give(assignmentOf(order));
    failPoint("runner spawned");
    hub.emit({ type: "job:started", job: this.job });
    this.relay = new Relay(this.context, this.job, false);
    this.shipment = site?.shipper.follow(this.job);
    await this.follow(runner.exited, at, holder, this.relay);
  }

  /** An attempt that an earlier fleet process began and that still runs. */
  async reattach(runner: ProcessIdentity, at: AttemptedAt): Promise<void> {
    this.relay = new Relay(this.context, this.job, true);
    this.shipment = this.context.site?.shipper.follow(this.job);
    const exited = gone(runner, this.left.signal);
    await this.follow(exited, at, this.holderOf(runner), this.relay);
  }

  private holderOf(runner: ProcessIdentity): LeaseHolder {
    const { site } = this.context;
    return { ...runner, job_id: this.job.id, ...(site && { node: site.nodes.id }) };
  }

  /** An attempt whose runner is dead: swept first, then settled from what it left. */
  async settleDead(at: AttemptedAt, holder: LeaseHolder): Promise<void> {
    await this.conclude(at, holder);
  }

  stop(reason: StopReason, force = false): void {
    this.stopping.abort(reason);
    this.unasked.abort();
    this.desk?.stop(reason, force);
  }

  /** Nothing more is recorded from here: the next fleet process finds the job where it is. */
  async leave(): Promise<void> {
    this.left.abort();
    this.unasked.abort();
    await this.atGate?.catch(() => undefined);
    void this.relay?.end();
    this.shipment?.leave();
    this.budget?.close();
    void this.desk?.close();
    this.runner.leave();
  }

  /** Others may have taken it over: its runner ends, and nothing of it is recorded from here. */
  async drop(): Promise<void> {
    this.dropped = true;
    this.desk?.stop("interrupted", true);
    await this.leave();
    this.runner.end();
    await this.exited;
  }

  /** Once dropped it writes nothing, though the node may write again by then. */
  private written<T>(write: () => Promise<T>): Promise<T> {
    return whenWritable(this.context, async () => {
      if (this.dropped) throw new UserError("node_fenced", `${this.id} is no longer this node's`);
      return write();
    });
  }

  private async cancelUnbegun(): Promise<void> {
    const outcome = plainOutcome("cancelled");
    const change = { status: "cancelled" as const, outcome, due_at: null };
    const { state } = this.context;
    const update = await this.written(() => state.jobs.update(this.id, change));
    this.job = update.job;
    this.announceEnd();
  }

  private async follow(
    exited: Promise<unknown>,
    at: AttemptedAt,
    holder: LeaseHolder,
    relay: Relay,
  ): Promise<void> {
    this.exited = exited;
    const { state, hub } = this.context;
    const run = { jobId: this.job.id, attempt: this.job.attempts };
    const jobDir = state.jobDir(run.jobId);
    const approvals = new ApprovalDesk(state, run, this.context.askPerson(run.jobId), {
      onChange: (job) =>
        hub.emit({ type: job.status === "waiting" ? "job:waiting" : "job:started", job }),
      onLapsed: (approval) => hub.emit({ type: "approval:answered", approval }),
    });
    const [stopping, left] = [this.stopping.signal, this.left.signal];
    this.desk = new RunnerDesk(
      { jobDir, attempt: run.attempt },
      approvals,
      (asked, signal) =>
        this.context.errand({ jobId: run.jobId, asked, approvals, signal, stopping, left }),
      (error) => this.context.trouble(`${run.jobId}: what it asks cannot be passed on`, error),
      (spent) => this.budget?.report(spent),
    );
    this.budget = this.context.budgets.watch(this.job, (limits) =>
      this.desk?.setSpendLimits(limits),
    );
    if (this.stopping.signal.aborted) this.desk.stop(this.stopping.signal.reason, false);
    // A runner that has left its outcome need not exit: its `claude` may wait for the next turn.
    const over = exited.then(() => readReport(jobDir, run.attempt));
    const told = await Promise.race([this.desk.told, over, aborted(this.left.signal)]);
    if (this.left.signal.aborted) return;
    const passedOn = relay.end();
    await this.desk.close();
    await this.conclude(at, holder, told ?? undefined, passedOn);
  }

  /** Nobody hears of the end before all that was said has been passed on. */
  private async conclude(
    at: AttemptedAt,
    holder: LeaseHolder,
    told?: RunReport,
    passedOn?: Promise<void>,
  ): Promise<void> {
    const { state, site } = this.context;
    const report = await this.written(() =>
      reportOfDead({
        stateDir: state.stateDir,
        job: this.job,
        environment: this.context.environment(),
        agent: this.configuredAgent,
        told,
      }),
    );
    failPoint("report read");
    // On record elsewhere before its end is: whoever hears of that finds all that was said.
    this.shipment ??= site?.shipper.follow(this.job);
    await this.shipment?.end();
    // Once it is on record the next job may start, and its end is to be told before that.
    await passedOn;
    this.budget?.close();
    this.job = await this.written(async () =>
      settleRun(state, report, at, holder, await this.next(report)),
    );
    this.context.budgets.refresh();
    failPoint("run settled");
    this.runner.turnOver(report.session_id, this.job.status === "completed");
    this.announceEnd();
    await this.runner.removeSpare();
    failPoint("job cleaned");
    await this.context.concluded(this.job.agent, report.outcome);
  }

  private get configuredAgent(): ResolvedAgent | undefined {
    return this.context.fleet().agents.find(({ name }) => name === this.job.agent);
  }

  private async next({
    attempt,
    outcome,
    crashed,
  }: Pick<RunReport, "attempt" | "outcome" | "crashed">): Promise<NextStep> {
    const agent = this.configuredAgent;
    // Stopped on purpose, or nobody's any more: what it came to is what stays.
    if (this.stopping.signal.aborted || !agent) return { kind: "finish", outcome };
    const { jobs } = this.context.state;
    const attempts = dependsOnEarlier(outcome) ? await jobs.attempts(this.job.id) : [];
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
    this.context.hub.emit(endEventOf(this.job));
  }
}
