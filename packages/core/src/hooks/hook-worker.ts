import { setTimeout as delay } from "node:timers/promises";
import type { Environment, Fleet, Hook } from "@herdctl/config";
import type { Approval, HookRun, HookRunEnd, PlannedHook } from "@herdctl/protocol";
import { PassRunner } from "../lib/pass-runner.ts";
import { killRunProcesses } from "../process-tree/kill-processes.ts";
import type { JobNotice } from "../store/sql/job-notices.ts";
import type { StateManager } from "../store/state-manager.ts";
import { failPoint } from "../testing/failpoints.ts";
import { createHookContext, failed, type HookResult, succeeded } from "./hook-attempt.ts";
import { hookToken, runHook } from "./run-hook.ts";
import { findHook, selectHooks, selectNoticeHooks } from "./select-hooks.ts";
import { planPushes, pushSettings, sendWebPush, webPushHook } from "./web-push.ts";

interface HookWorkerOptions {
  state: StateManager;
  fleet(): Fleet;
  environment(): Environment;
  /** URL under which people reach the dashboard; null if there is none. */
  dashboardUrl(): string | null;
  /** Whether this process runs the hooks of this job. */
  isResponsibleFor(jobId: string): boolean;
  /** An attempt of a hook has ended and is recorded. */
  onAttempt(run: HookRun): void;
  reportError(message: string, cause?: unknown): void;
}

const maxConcurrentHooks = 8;
const retryDelayMs = 1_000;
const maxTimerMs = 2 ** 31 - 1;
const pollIntervalMs = 25;

/**
 * Runs the hooks of jobs: at their end, when they ask a person, and when they wait. The event and
 * the fact that its hooks are undecided are recorded together, and each attempt is recorded before it
 * starts. So nothing is lost with this process, and interrupted attempts are repeated: a hook runs at
 * least once.
 */
export class HookWorker {
  private readonly activeHooks = new Map<string, Promise<void>>();
  private readonly abortControllers = new Set<AbortController>();
  private stopping = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly passes = new PassRunner(
    () => this.runPass(),
    () => this.isRunning,
  );
  private isRunning = false;
  private isRecovered = false;

  constructor(private readonly options: HookWorkerOptions) {}

  start(): void {
    this.isRunning = true;
    this.wake();
  }

  /** Call it when a job has ended, asks or waits, or a hook is to be retried. */
  wake(): void {
    this.passes.request();
  }

  /**
   * Waits up to `timeoutMs` for due hooks. Interrupted hooks are retried by the next fleet process.
   */
  async stop(timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (Date.now() < deadline && (!this.passes.isIdle || this.activeHooks.size > 0))
      await delay(pollIntervalMs);
    this.isRunning = false;
    clearTimeout(this.timer);
    this.stopping = true;
    for (const abortController of this.abortControllers)
      abortController.abort("the fleet was stopped");
    await this.passes.whenIdle();
    await Promise.all(this.activeHooks.values());
  }

  private async recoverWithRetry(): Promise<void> {
    while (this.isRunning) {
      try {
        return await this.recoverInterrupted();
      } catch (error) {
        this.options.reportError("Failed to find interrupted hooks", error);
        await delay(retryDelayMs);
      }
    }
  }

  /** Ends hooks of an earlier fleet process before they run again. */
  private async recoverInterrupted(): Promise<void> {
    for (const run of await this.options.state.hooks.listOpen()) {
      if (run.status !== "running") continue;
      if (run.type === "shell") await killRunProcesses(hookToken(run.id, run.attempts));
      failPoint("hook cut off");
      await this.record(run, failed("the fleet stopped while the hook was running"));
    }
  }

  private async runPass(): Promise<void> {
    if (!this.isRecovered) {
      await this.recoverWithRetry();
      this.isRecovered = true;
      return this.wake();
    }
    try {
      await this.startDueHooks();
    } catch (error) {
      this.options.reportError("Failed to run hooks", error);
      this.scheduleWake(retryDelayMs);
    }
  }

  private async startDueHooks(): Promise<void> {
    clearTimeout(this.timer);
    await this.decideHooks();
    await this.decideNoticeHooks();
    const now = Date.now();
    let next = Number.POSITIVE_INFINITY;
    for (const run of await this.options.state.hooks.listOpen()) {
      if (run.due_at === null || this.activeHooks.has(run.id)) continue;
      if (!this.options.isResponsibleFor(run.job_id)) continue;
      const due = Date.parse(run.due_at);
      if (due > now) next = Math.min(next, due);
      else if (this.activeHooks.size < maxConcurrentHooks) await this.startHook(run);
    }
    if (next < Number.POSITIVE_INFINITY) this.scheduleWake(next - now);
  }

  /** Decides once, at the end of a job and by the current configuration, which hooks run. */
  private async decideHooks(): Promise<void> {
    const { state, isResponsibleFor } = this.options;
    const endedJobIds = (await state.hooks.listUndecidedJobs()).filter(isResponsibleFor);
    if (endedJobIds.length === 0) return;
    const hooksByJob = new Map<string, PlannedHook[]>();
    for (const id of endedJobIds) hooksByJob.set(id, await this.hooksForJob(id));
    await state.hooks.enqueue(hooksByJob);
    failPoint("hooks decided");
  }

  /** Decides once which hooks a question or a wait triggers. */
  private async decideNoticeHooks(): Promise<void> {
    const { state, isResponsibleFor } = this.options;
    for (const notice of await state.hooks.listNotices()) {
      if (!isResponsibleFor(notice.jobId)) continue;
      await state.hooks.enqueueForNotice(notice, await this.hooksForNotice(notice));
    }
  }

  private async hooksForNotice({ jobId, cause }: JobNotice): Promise<PlannedHook[]> {
    const { state } = this.options;
    const job = await state.jobs.get(jobId);
    const agent = job && this.agent(job.agent);
    if (!job || !agent) return [];
    if (cause.kind === "wait") return selectNoticeHooks(job, agent, { cause });
    const approval = await state.approvals.get(cause.approval_id);
    if (!approval || approval.answer !== null) return [];
    const pushes = await planPushes(state, agent.name, cause);
    return [...selectNoticeHooks(job, agent, { cause, approval }), ...pushes];
  }

  private async hooksForJob(jobId: string): Promise<PlannedHook[]> {
    const job = await this.options.state.jobs.get(jobId);
    const agent = job && this.agent(job.agent);
    return job && agent ? selectHooks(job, agent) : [];
  }

  private async startHook({ id }: HookRun): Promise<void> {
    const run = await this.options.state.hooks.startAttempt(id);
    if (!run) return;
    failPoint("hook begun");
    const hookRun = this.runAndRecord(run)
      .catch((error) => this.options.reportError(`Failed to run ${id}`, error))
      .finally(() => {
        this.activeHooks.delete(id);
        this.wake();
      });
    this.activeHooks.set(id, hookRun);
  }

  private async runAndRecord(run: HookRun): Promise<void> {
    const result = await this.attemptHook(run).catch((error: unknown) =>
      failed(error instanceof Error ? error.message : String(error)),
    );
    failPoint("hook ran");
    await this.record(run, result);
    failPoint("hook recorded");
  }

  private async attemptHook(run: HookRun): Promise<HookResult> {
    const { state, fleet, environment } = this.options;
    const job = await state.jobs.get(run.job_id);
    const agent = this.agent(run.agent);
    const hook = this.findTarget(run);
    if (!job || !agent || !hook) {
      return failed("the hook is no longer in the configuration", { isTransient: false });
    }
    const approval = await this.findRequest(run);
    if (approval && approval.answer !== null)
      return succeeded(`not sent: the request was closed before (${approval.answer})`);
    const abortController = new AbortController();
    this.abortControllers.add(abortController);
    if (this.stopping) abortController.abort("the fleet was stopped");
    const timer = setTimeout(
      () => abortController.abort(`it took longer than ${hook.timeout / 1000} s`),
      Math.min(hook.timeout, maxTimerMs),
    );
    try {
      const attempt = {
        run,
        context: createHookContext({
          run,
          job,
          fleet: fleet().fleet.name,
          dashboardUrl: this.options.dashboardUrl(),
          approval,
        }),
        environment: environment(),
        workingDirectory: agent.fleet_dir,
        signal: abortController.signal,
      };
      if (hook.type !== "web_push") return await runHook(hook, attempt);
      return await sendWebPush(state, pushSettings(fleet()), attempt);
    } finally {
      clearTimeout(timer);
      this.abortControllers.delete(abortController);
    }
  }

  private findTarget(run: HookRun): Hook | typeof webPushHook | undefined {
    return run.type === "web_push" ? webPushHook : findHook(this.agent(run.agent), run);
  }

  private findRequest({ cause }: HookRun): Promise<Approval | undefined> {
    if (cause?.kind !== "question") return Promise.resolve(undefined);
    return this.options.state.approvals.get(cause.approval_id);
  }

  private async record(run: HookRun, result: HookResult): Promise<void> {
    const retry = this.findTarget(run)?.retry ?? { max_attempts: 1, backoff: 0 };
    const end = nextHookState(result, run.attempts, retry, new Date());
    for (;;) {
      try {
        return this.options.onAttempt(await this.options.state.hooks.endAttempt(run.id, end));
      } catch (error) {
        if (this.stopping) throw error;
        this.options.reportError(`Failed to record the result of ${run.id}`, error);
        await delay(retryDelayMs);
      }
    }
  }

  private agent(name: string) {
    return this.options.fleet().agents.find((agent) => agent.name === name);
  }

  private scheduleWake(delayMs: number): void {
    if (!this.isRunning) return;
    clearTimeout(this.timer);
    const wait = Math.min(Math.max(delayMs, 1), maxTimerMs);
    this.timer = setTimeout(() => this.wake(), wait).unref();
  }
}

const maxRetryDelayMs = 6 * 3_600_000;

/** The record of an attempt: its end, or the time of the next attempt. */
export function nextHookState(
  result: HookResult,
  attempts: number,
  retry: Hook["retry"],
  now: Date,
): HookRunEnd {
  const resultText = { message: result.message, output: result.output };
  if (result.ok) return { status: "succeeded", ...resultText };
  if (!result.isTransient || attempts >= retry.max_attempts)
    return { status: "failed", ...resultText };
  const delayMs = Math.max(retry.backoff * 4 ** (attempts - 1), result.retryAfterMs ?? 0);
  const due = now.getTime() + Math.min(delayMs, maxRetryDelayMs);
  return { status: "due", due_at: new Date(due).toISOString(), ...resultText };
}
