import { outputSchemaOf } from "../config/output-schema.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { failPoint } from "../faults/fail-point.ts";
import { ApprovalDesk } from "../runner/approval-desk.ts";
import { type AttemptHands, beginAttempt, plainOutcome } from "../runner/begin-attempt.ts";
import type { SpareContainer } from "../runner/container/spare.ts";
import { type NextStep, nextStep } from "../runner/next-step.ts";
import type { RunOrder } from "../runner/run-order.ts";
import type { RunReport } from "../runner/run-report.ts";
import { type AttemptedAt, settleRun } from "../runner/settle-run.ts";
import { readReport, reportOfDead } from "../runner-process/recover.ts";
import type { StartedRunner } from "../runner-process/spare.ts";
import type { Job } from "../state/job.ts";
import { identifyProcess, isAlive, type ProcessIdentity } from "../state/process-identity.ts";
import type { LeaseHolder } from "../state/session.ts";
import { agentPrint } from "./agent-print.ts";
import type { FleetContext } from "./context.ts";
import { definedOnly } from "./defined-only.ts";
import { passGate } from "./gate-at-start.ts";
import { Relay } from "./relay.ts";
import { RunnerDesk, type StopReason } from "./runner-desk.ts";
import type { WarmClaude } from "./warm-claudes.ts";
import { whenWritable } from "./when-writable.ts";

/** One job under way, from the moment it is claimed until its attempt is recorded. */
export class ActiveJob {
  private readonly stopping = new AbortController();
  private readonly left = new AbortController();
  /** Its gate need not answer any more. */
  private readonly unasked = new AbortController();
  private atGate: Promise<Job> | undefined;
  private relay: Relay | undefined;
  private desk: RunnerDesk | undefined;
  private spare: SpareContainer | undefined;
  private warm: WarmClaude | undefined;
  private chosen: { runner: StartedRunner; order: RunOrder; wasUp: boolean } | undefined;

  constructor(
    private readonly context: FleetContext,
    private job: Job,
  ) {}

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
    const { state, hub } = this.context;
    const environment = definedOnly(this.context.environment());
    const request = {
      state,
      job: this.job,
      agent,
      environment,
      claudePath: this.context.fleet().claude_path,
      partialMessages: this.context.isWatched(this.job.id),
      live: this.context.isLive(this.job),
      freshSession: () => this.takeWarm(agent)?.sessionId,
      signal: this.stopping.signal,
    };
    const attempt = this.job.attempts + 1;
    const hands: AttemptHands = {
      afterRefusal: (outcome) => this.next({ attempt, outcome, crashed: false }),
      runnerFor: (order) => identifyProcess(this.chooseRunner(order).pid),
    };
    const begun = await whenWritable(this.context, () => beginAttempt(request, hands)).catch(
      (error: unknown) => this.giveUp(error),
    );
    this.job = begun.job;
    if (begun.kind === "refused") {
      if (this.warm) this.context.waiting.letGo(this.warm.runner);
      return this.announceEnd();
    }

    failPoint("attempt begun");
    const { order, at, holder } = begun;
    const runner = this.chooseRunner(order);
    runner.give({ stateDir: state.stateDir, order, environment, spare: this.spare });
    failPoint("runner spawned");
    hub.emit({ type: "job:started", job: this.job });
    this.relay = new Relay(this.context, this.job, false);
    await this.follow(runner.exited, at, holder, this.relay);
  }

  /** One is started as most jobs need it: for those that are watched or owe a report it is another. */
  private takeWarm(agent: ResolvedAgent): WarmClaude | undefined {
    const { id, schedule } = this.job;
    if (this.context.isWatched(id) || outputSchemaOf(agent, schedule)) return undefined;
    this.warm ??= this.context.warm.take(agent.name);
    return this.warm;
  }

  /** The one that waits for this turn, whatever it is to make of it; else a spare. Chosen once. */
  private chooseRunner(order: RunOrder): StartedRunner {
    if (this.chosen) return this.chosen.runner;
    const { spares, waiting, spareContainers } = this.context;
    const { kind, sessionId } = order.session;
    const waits = kind === "resume" ? waiting.take(sessionId) : this.warm?.runner;
    // A spare goes with its job, so it is none for a `claude` that may stay.
    if (!waits && !order.live) this.spare = spareContainers.take(order.agent.name);
    const runner = waits ?? spares.reserve();
    this.chosen = { runner, order, wasUp: waits !== undefined };
    return runner;
  }

  /** Nobody is left waiting for an order that does not come. */
  private async giveUp(error: unknown): Promise<never> {
    this.chosen?.runner.letGo();
    if (this.spare) await this.context.spareContainers.remove(this.spare);
    throw error;
  }

  /** An attempt that an earlier fleet process began and that still runs. */
  async reattach(runner: ProcessIdentity, at: AttemptedAt): Promise<void> {
    this.relay = new Relay(this.context, this.job, true);
    const exited = gone(runner, this.left.signal);
    await this.follow(exited, at, { ...runner, job_id: this.job.id }, this.relay);
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
    void this.desk?.close();
    // There is nobody who would bring it another turn.
    this.chosen?.runner.letGo();
  }

  private async cancelUnbegun(): Promise<void> {
    const outcome = plainOutcome("cancelled");
    const change = { status: "cancelled" as const, outcome, due_at: null };
    const { state } = this.context;
    const update = await whenWritable(this.context, () => state.jobs.update(this.id, change));
    this.job = update.job;
    this.announceEnd();
  }

  private async follow(
    exited: Promise<unknown>,
    at: AttemptedAt,
    holder: LeaseHolder,
    relay: Relay,
  ): Promise<void> {
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
    const { state, spareContainers } = this.context;
    const report = await whenWritable(this.context, () =>
      reportOfDead({
        stateDir: state.stateDir,
        job: this.job,
        environment: this.context.environment(),
        told,
      }),
    );
    failPoint("report read");
    this.job = await whenWritable(this.context, async () =>
      settleRun(state, report, at, holder, await this.next(report)),
    );
    failPoint("run settled");
    this.leaveRunner(report);
    await passedOn;
    this.announceEnd();
    if (this.spare) await spareContainers.remove(this.spare);
    failPoint("job cleaned");
    await this.context.concluded(this.job.agent, report.outcome);
  }

  /** After a turn that went well it waits for the next; it ends by itself otherwise. */
  private leaveRunner({ session_id: sessionId }: RunReport): void {
    if (!this.chosen?.order.live && !this.chosen?.wasUp) return;
    const { runner, order } = this.chosen;
    const { waiting } = this.context;
    const { name: agent, session } = order.agent;
    const print = agentPrint(this.context, agent) ?? "";
    if (!order.live || this.job.status !== "completed") waiting.letGo(runner);
    else waiting.keep({ sessionId, agent, print, runner, idle: session.live });
  }

  private async next({
    attempt,
    outcome,
    crashed,
  }: Pick<RunReport, "attempt" | "outcome" | "crashed">): Promise<NextStep> {
    const agent = this.context.fleet().agents.find(({ name }) => name === this.job.agent);
    // Stopped on purpose, or nobody's any more: what it came to is what stays.
    if (this.stopping.signal.aborted || !agent) return { kind: "finish", outcome };
    const attempts = await this.context.state.jobs.attempts(this.job.id);
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
    const { job } = this;
    const types = {
      completed: "job:completed",
      failed: "job:failed",
      cancelled: "job:cancelled",
      skipped: "job:skipped",
    } as const;
    const type = job.status in types ? types[job.status as keyof typeof types] : "job:waiting";
    this.context.hub.emit({ type, job });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  );
}

const lookEvery = 200;

/** A process that is not our child tells nobody when it ends. Whoever has left it must not stay up for it. */
async function gone(process: ProcessIdentity, left: AbortSignal): Promise<void> {
  while (!left.aborted && isAlive(process))
    await new Promise((resolve) => setTimeout(resolve, lookEvery));
}
