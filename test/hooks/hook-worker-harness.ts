import { join } from "node:path";
import { type LoadedFleet, loadFleet } from "@herdctl/config";
import { StateManager } from "@herdctl/core/internal";
import type { HookRun, Job } from "@herdctl/protocol";
import { onTestFinished } from "vitest";
import { HookWorker } from "../../packages/core/src/hooks/hook-worker.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

export interface HookWorkerHarness {
  folder: string;
  state: StateManager;
  worker: HookWorker;
  /** Another worker on the same state, like the next fleet process. */
  nextWorker(): HookWorker;
  /** A job that has just ended. */
  createEndedJob(change?: JobEnd): Promise<Job>;
  hooksOf(job: Job): Promise<HookRun[]>;
  /** Waits until every hook of the job has this status. */
  waitUntilSettled(job: Job, status?: HookRun["status"]): Promise<HookRun[]>;
}

interface JobEnd {
  status?: "completed" | "failed" | "cancelled";
  metadata?: Record<string, unknown>;
}

const codes = { completed: "success", failed: "timeout", cancelled: "cancelled" } as const;

/** A fleet file with these hooks, its state, and a worker on it, without agents or a fleet. */
export async function startHookWorkerHarness(
  hooks: string,
  env: Record<string, string | undefined> = process.env,
  { server = "{}" } = {},
): Promise<HookWorkerHarness> {
  const yaml = hooks.replace(/^/gm, "      ");
  const folder = tempFolderWith({
    "herdctl.yaml": `version: 1\nserver: ${server}\nfleet: { name: my-fleet }\nagents:\n  - name: one\n    hooks:\n${yaml}\n`,
  });
  const loaded: LoadedFleet = loadFleet(join(folder, "herdctl.yaml"), env);
  const state = await new StateManager(join(folder, ".herdctl")).open();
  const workers: HookWorker[] = [];
  const nextWorker = () => {
    const worker = new HookWorker({
      state,
      fleet: () => loaded.fleet,
      environment: () => loaded.environment,
      dashboardUrl: () => "http://127.0.0.1:3232",
      isResponsibleFor: () => true,
      onAttempt: () => undefined,
      reportError: (message, cause) => console.error(message, cause),
    });
    workers.push(worker);
    return worker;
  };
  onTestFinished(async () => {
    for (const worker of workers) await worker.stop(0);
    await state.close();
  });
  const hooksOf = async (job: Job) =>
    (await state.hooks.list({ job: job.id, limit: 100 })).reverse();
  return {
    folder,
    state,
    worker: nextWorker(),
    nextWorker,
    hooksOf,
    createEndedJob: async ({ status = "completed", metadata } = {}) => {
      const { job } = await state.jobs.create({ agent: "one", prompt: "go" });
      await state.jobs.startAttempt(job.id);
      const code = codes[status];
      const outcome = { code, message: "over", hint: "none" };
      const end = { outcome_code: code, session_id: null, cost_usd: 0.25 };
      const change = { status, outcome, summary: "done", metadata };
      return (await state.jobs.endAttempt(job.id, 1, end, change)).job;
    },
    waitUntilSettled: (job, status = "succeeded") =>
      waitUntil(`the hooks of the job to be ${status}`, async () => {
        const runs = await hooksOf(job);
        return runs.length > 0 && runs.every((run) => run.status === status) && runs;
      }),
  };
}
