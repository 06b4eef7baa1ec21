import { setTimeout as delay } from "node:timers/promises";
import type { Environment } from "../config/environment.ts";
import type { Fleet } from "../config/load.ts";
import { failPoint } from "../faults/fail-point.ts";
import { sweepRun } from "../runner/sweep/sweep-run.ts";
import type { CalledHook, HookRun } from "../state/hook-run.ts";
import type { StateManager } from "../state/state-manager.ts";
import { chooseHooks, findHook } from "./choose.ts";
import { contextOf } from "./context.ts";
import { deliver } from "./deliver.ts";
import { failed, type HookResult } from "./hook-result.ts";
import { nextTry } from "./next-try.ts";
import { hookToken } from "./shell.ts";

export interface HookDeskOptions {
  state: StateManager;
  fleet(): Fleet;
  environment(): Environment;
  /** Whether the hooks of this job are ours to run. */
  concerns(jobId: string): boolean;
  /** An attempt at a hook is over and recorded. */
  onAttempt(run: HookRun): void;
  trouble(message: string, cause?: unknown): void;
}

const atOnce = 8;
const tryAgainAfter = 1_000;
const longestTimer = 2 ** 31 - 1;
const lookEvery = 25;
/** Whoever waits for the job is answered first: the record of its hooks takes the disk. */
const untilAnswered = 20;

/**
 * Runs what finished jobs call for. That a job has ended and has hooks to be decided on is recorded
 * together; each attempt is recorded before it begins. So nothing is lost with this process, and
 * what was cut off is tried again: a hook runs at least once.
 */
export class HookDesk {
  private readonly underWay = new Map<string, Promise<void>>();
  private readonly limits = new Set<AbortController>();
  private stopping = false;
  private timer: NodeJS.Timeout | undefined;
  private passing: Promise<void> | undefined;
  private again = false;
  private open = false;

  constructor(private readonly options: HookDeskOptions) {}

  start(): void {
    this.open = true;
    this.passing = this.takeOverAtLast().finally(() => {
      this.passing = undefined;
      this.kick();
    });
  }

  /** A job has ended, or a hook is to be tried again. */
  kick(): void {
    if (!this.open) return;
    this.again = true;
    this.passing ??= this.passes().finally(() => {
      this.passing = undefined;
      if (this.again) this.kick();
    });
  }

  /** Lets what is due be tried, for so long; what is cut off then is tried again by the next fleet. */
  async stop(patience: number): Promise<void> {
    const deadline = Date.now() + patience;
    while (Date.now() < deadline && (this.passing || this.underWay.size > 0))
      await delay(lookEvery);
    this.open = false;
    clearTimeout(this.timer);
    this.stopping = true;
    for (const limit of this.limits) limit.abort("the fleet was stopped");
    await this.passing;
    await Promise.all(this.underWay.values());
  }

  private async takeOverAtLast(): Promise<void> {
    while (this.open) {
      try {
        return await this.takeOver();
      } catch (error) {
        this.options.trouble("hooks that were cut off could not be looked for", error);
        await delay(tryAgainAfter);
      }
    }
  }

  /** Whatever an earlier fleet process was at: it is ended before it is begun anew. */
  private async takeOver(): Promise<void> {
    for (const run of await this.options.state.hooks.open()) {
      if (run.status !== "running") continue;
      if (run.type === "shell") await sweepRun(hookToken(run.id, run.attempts));
      failPoint("hook cut off");
      await this.record(run, failed("the fleet ended while the hook ran"));
    }
  }

  private async passes(): Promise<void> {
    await delay(untilAnswered);
    while (this.again && this.open) {
      this.again = false;
      try {
        await this.pass();
      } catch (error) {
        this.options.trouble("hooks could not be run", error);
        this.lookAgainIn(tryAgainAfter);
      }
    }
  }

  private async pass(): Promise<void> {
    clearTimeout(this.timer);
    await this.decide();
    const now = Date.now();
    let next = Number.POSITIVE_INFINITY;
    for (const run of await this.options.state.hooks.open()) {
      if (run.due_at === null || this.underWay.has(run.id)) continue;
      if (!this.options.concerns(run.job_id)) continue;
      const due = Date.parse(run.due_at);
      if (due > now) next = Math.min(next, due);
      else if (this.underWay.size < atOnce) await this.begin(run);
    }
    if (next < Number.POSITIVE_INFINITY) this.lookAgainIn(next - now);
  }

  /** By the configuration of now: what a job calls for is settled at its end, once. */
  private async decide(): Promise<void> {
    const { state, concerns } = this.options;
    const ended = (await state.hooks.undecided()).filter(concerns);
    if (ended.length === 0) return;
    const called = new Map<string, CalledHook[]>();
    for (const id of ended) called.set(id, await this.calledBy(id));
    await state.hooks.decide(called);
    failPoint("hooks decided");
  }

  private async calledBy(jobId: string): Promise<CalledHook[]> {
    const job = await this.options.state.jobs.get(jobId);
    const agent = job && this.agent(job.agent);
    return job && agent ? chooseHooks(job, agent) : [];
  }

  private async begin({ id }: HookRun): Promise<void> {
    const run = await this.options.state.hooks.begin(id);
    if (!run) return;
    failPoint("hook begun");
    const work = this.carryOut(run)
      .catch((error) => this.options.trouble(`${id} could not be carried out`, error))
      .finally(() => {
        this.underWay.delete(id);
        this.kick();
      });
    this.underWay.set(id, work);
  }

  private async carryOut(run: HookRun): Promise<void> {
    const result = await this.attempt(run).catch((error: unknown) =>
      failed(error instanceof Error ? error.message : String(error)),
    );
    failPoint("hook ran");
    await this.record(run, result);
    failPoint("hook recorded");
  }

  private async attempt(run: HookRun): Promise<HookResult> {
    const { state, fleet, environment } = this.options;
    const job = await state.jobs.get(run.job_id);
    const agent = this.agent(run.agent);
    const hook = findHook(agent, run);
    if (!job || !agent || !hook) {
      return failed("the hook is no longer in the configuration", { mayPass: false });
    }
    const limit = new AbortController();
    this.limits.add(limit);
    if (this.stopping) limit.abort("the fleet was stopped");
    const timer = setTimeout(
      () => limit.abort(`it took longer than ${hook.timeout / 1000} s`),
      Math.min(hook.timeout, longestTimer),
    );
    try {
      return await deliver(hook, {
        run,
        context: contextOf(run, job, fleet().fleet.name),
        environment: environment(),
        folder: agent.fleet_dir,
        signal: limit.signal,
      });
    } finally {
      clearTimeout(timer);
      this.limits.delete(limit);
    }
  }

  private async record(run: HookRun, result: HookResult): Promise<void> {
    const retry = findHook(this.agent(run.agent), run)?.retry ?? { max_attempts: 1, backoff: 0 };
    const end = nextTry(result, run.attempts, retry, new Date());
    for (;;) {
      try {
        return this.options.onAttempt(await this.options.state.hooks.end(run.id, end));
      } catch (error) {
        if (this.stopping) throw error;
        this.options.trouble(`what became of ${run.id} could not be recorded`, error);
        await delay(tryAgainAfter);
      }
    }
  }

  private agent(name: string) {
    return this.options.fleet().agents.find((agent) => agent.name === name);
  }

  private lookAgainIn(milliseconds: number): void {
    if (!this.open) return;
    clearTimeout(this.timer);
    const wait = Math.min(Math.max(milliseconds, 1), longestTimer);
    this.timer = setTimeout(() => this.kick(), wait).unref();
  }
}
