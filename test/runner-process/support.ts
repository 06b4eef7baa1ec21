import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Job, type SDKMessage, StateManager } from "@herdctl/core";
import { expect, onTestFinished } from "vitest";
import { prepareRun } from "../../packages/core/src/runner/prepare-run.ts";
import { readProcess } from "../../packages/core/src/runner/sweep/process-table.ts";
import type { RunnerAssignment } from "../../packages/core/src/runner-process/contract.ts";
import { readReport } from "../../packages/core/src/runner-process/recover.ts";
import { SparePool, type SparePoolOptions } from "../../packages/core/src/runner-process/spare.ts";
import { readOutput } from "../../packages/core/src/state/output-reader.ts";
import type { LeaseHolder } from "../../packages/core/src/state/session.ts";
import { type ClaudeVersion, claudeBinary } from "../support/claude.ts";
import { folderWith } from "../support/folder.ts";
import { agentFor, stateDirOf } from "../support/job.ts";
import type { Stage } from "../support/stage.ts";

export interface Task {
  state: StateManager;
  job: Job;
  jobDir: string;
  assignment: RunnerAssignment;
  /** Who has the session while the attempt runs. */
  holder: LeaseHolder;
}

export interface TaskOptions {
  yaml?: string;
  prompt?: string;
  version?: ClaudeVersion;
  stateDir?: string;
  claudePath?: string;
}

async function openState(on: Stage, stateDir = stateDirOf(on)): Promise<StateManager> {
  const state = await new StateManager(stateDir).open();
  onTestFinished(() => state.close());
  return state;
}

/** A job with its next attempt begun on record, as the fleet does before it hands it to a runner. */
export async function assign(on: Stage, options: TaskOptions = {}): Promise<Task> {
  const state = await openState(on, options.stateDir);
  const { job } = await state.jobs.create({ agent: "one", prompt: options.prompt ?? "hello" });
  return assignAgain(on, state, job, options);
}

export async function assignAgain(
  on: Stage,
  state: StateManager,
  job: Job,
  { yaml, version = "325", claudePath = claudeBinary(version) }: TaskOptions,
): Promise<Task> {
  const environment = { ...on.env, CLAUDE_CODE_MAX_RETRIES: "1" };
  const { signal } = new AbortController();
  const agent = agentFor(on, yaml);
  const prepared = await prepareRun({ state, job, agent, environment, claudePath, signal });
  if (prepared.kind === "refused") return expect.fail(prepared.outcome.message);
  const started = await state.jobs.startAttempt(job.id);
  const { stateDir } = state;
  const assignment = { stateDir, order: prepared.order, environment };
  const { holder } = prepared;
  return { state, job: started.job, jobDir: state.jobDir(job.id), assignment, holder };
}

export function sparePool(options: Partial<SparePoolOptions> = {}): SparePool {
  const pool = new SparePool({ scratch: folderWith({}), ...options });
  onTestFinished(() => pool.stop());
  return pool;
}

export async function until<T>(look: () => T | Promise<T>, seconds = 20): Promise<NonNullable<T>> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > deadline) return expect.fail(`waited in vain for ${look}`);
    await delay(5);
  }
}

export async function messagesOf({ jobDir }: Pick<Task, "jobDir">): Promise<SDKMessage[]> {
  const messages: SDKMessage[] = [];
  for await (const { message } of readOutput(join(jobDir, "output.jsonl")))
    messages.push(message as SDKMessage);
  return messages;
}

export function reportOf({ jobDir, job }: Task) {
  return readReport(jobDir, job.attempts);
}

export function isRunning(pid: number): boolean {
  return readProcess(pid, "linux") !== undefined;
}
