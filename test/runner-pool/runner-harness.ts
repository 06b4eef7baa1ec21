import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type SDKMessage, StateManager } from "@herdctl/core/internal";
import type { Job } from "@herdctl/protocol";
import { expect, onTestFinished } from "vitest";
import { prepareRun } from "../../packages/core/src/jobs/attempts/prepare-run.ts";
import { readProcess } from "../../packages/core/src/process-tree/process-table.ts";
import type { RunnerAssignment } from "../../packages/core/src/runner/contract/messages.ts";
import { readReport } from "../../packages/core/src/runner/recovery/collect-report.ts";
import {
  RunnerPool,
  type RunnerPoolOptions,
} from "../../packages/core/src/runner-pool/runner-pool.ts";
import { readOutput } from "../../packages/core/src/store/files/output-log.ts";
import type { SessionLeaseHolder } from "../../packages/protocol/src/records/session.ts";
import { type ClaudeVersion, claudeBinary } from "../support/claude-binaries.ts";
import type { TestHarness } from "../support/harness.ts";
import { loadAgent, stateDirOf } from "../support/run-job.ts";

export interface AssignedRun {
  state: StateManager;
  job: Job;
  jobDir: string;
  assignment: RunnerAssignment;
  /** The holder of the session lease while the attempt runs. */
  leaseHolder: SessionLeaseHolder;
}

export interface AssignedRunOptions {
  yaml?: string;
  prompt?: string;
  version?: ClaudeVersion;
  stateDir?: string;
  claudePath?: string;
}

async function openState(
  harness: TestHarness,
  stateDir = stateDirOf(harness),
): Promise<StateManager> {
  const state = await new StateManager(stateDir).open();
  onTestFinished(() => state.close());
  return state;
}

/** A job with its next attempt recorded, as the fleet does before it assigns the runner. */
export async function assignRun(
  harness: TestHarness,
  options: AssignedRunOptions = {},
): Promise<AssignedRun> {
  const state = await openState(harness, options.stateDir);
  const { job } = await state.jobs.create({ agent: "one", prompt: options.prompt ?? "hello" });
  return assignNextAttempt(harness, state, job, options);
}

export async function assignNextAttempt(
  harness: TestHarness,
  state: StateManager,
  job: Job,
  { yaml, version = "325", claudePath = claudeBinary(version) }: AssignedRunOptions,
): Promise<AssignedRun> {
  const environment = { ...harness.env, CLAUDE_CODE_MAX_RETRIES: "1" };
  const { signal } = new AbortController();
  const agent = loadAgent(harness, yaml);
  const prepared = await prepareRun({ state, job, agent, environment, claudePath, signal });
  if (prepared.kind === "refused") return expect.fail(prepared.outcome.message);
  const started = await state.jobs.startAttempt(job.id);
  const { stateDir } = state;
  const assignment = { stateDir, order: prepared.order, environment };
  const { holder } = prepared;
  return { state, job: started.job, jobDir: state.jobDir(job.id), assignment, leaseHolder: holder };
}

export function createRunnerPool(options: Partial<RunnerPoolOptions> = {}): RunnerPool {
  const pool = new RunnerPool({ refill: true, ...options });
  onTestFinished(() => pool.stop());
  return pool;
}

export async function waitUntil<T>(
  poll: () => T | Promise<T>,
  seconds = 20,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const result = await poll();
    if (result) return result;
    if (Date.now() > deadline) return expect.fail(`timed out waiting for ${poll}`);
    await delay(5);
  }
}

export async function readLoggedMessages({
  jobDir,
}: Pick<AssignedRun, "jobDir">): Promise<SDKMessage[]> {
  const messages: SDKMessage[] = [];
  for await (const { message } of readOutput(join(jobDir, "output.jsonl")))
    messages.push(message as SDKMessage);
  return messages;
}

export function readRunReport({ jobDir, job }: AssignedRun) {
  return readReport(jobDir, job.attempts);
}

export function isRunning(pid: number): boolean {
  return readProcess(pid, "linux") !== undefined;
}
