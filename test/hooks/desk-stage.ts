import { join } from "node:path";
import { type HookRun, type Job, type LoadedFleet, loadFleet, StateManager } from "@herdctl/core";
import { onTestFinished } from "vitest";
import { HookDesk } from "../../packages/core/src/hooks/hook-desk.ts";
import { until } from "../support/fleet-program.ts";
import { folderWith } from "../support/folder.ts";

export interface DeskStage {
  folder: string;
  state: StateManager;
  desk: HookDesk;
  /** Another desk on the same state, as the next fleet process would have. */
  nextDesk(): HookDesk;
  /** A job that has just ended. */
  ended(change?: Ending): Promise<Job>;
  hooksOf(job: Job): Promise<HookRun[]>;
  /** Once every hook of the job stands so. */
  settled(job: Job, status?: HookRun["status"]): Promise<HookRun[]>;
}

interface Ending {
  status?: "completed" | "failed" | "cancelled";
  metadata?: Record<string, unknown>;
}

const codes = { completed: "success", failed: "timeout", cancelled: "cancelled" } as const;

/** A fleet file with these hooks, its state, and a desk on it; no agent and no fleet. */
export async function deskStage(
  hooks: string,
  env: Record<string, string | undefined> = process.env,
): Promise<DeskStage> {
  const yaml = hooks.replace(/^/gm, "      ");
  const folder = folderWith({
    "herdctl.yaml": `version: 1\nfleet: { name: my-fleet }\nagents:\n  - name: one\n    hooks:\n${yaml}\n`,
  });
  const loaded: LoadedFleet = loadFleet(join(folder, "herdctl.yaml"), env);
  const state = await new StateManager(join(folder, ".herdctl")).open();
  const desks: HookDesk[] = [];
  const nextDesk = () => {
    const desk = new HookDesk({
      state,
      fleet: () => loaded.fleet,
      environment: () => loaded.environment,
      concerns: () => true,
      onAttempt: () => undefined,
      trouble: (message, cause) => console.error(message, cause),
    });
    desks.push(desk);
    return desk;
  };
  onTestFinished(async () => {
    for (const desk of desks) await desk.stop(0);
    await state.close();
  });
  const hooksOf = async (job: Job) =>
    (await state.hooks.list({ jobId: job.id, limit: 100 })).reverse();
  return {
    folder,
    state,
    desk: nextDesk(),
    nextDesk,
    hooksOf,
    ended: async ({ status = "completed", metadata } = {}) => {
      const { job } = await state.jobs.create({ agent: "one", prompt: "go" });
      await state.jobs.startAttempt(job.id);
      const code = codes[status];
      const outcome = { code, message: "over", hint: "none" };
      const end = { outcome_code: code, session_id: null, cost_usd: 0.25 };
      const change = { status, outcome, summary: "done", metadata };
      return (await state.jobs.endAttempt(job.id, 1, end, change)).job;
    },
    settled: (job, status = "succeeded") =>
      until(`the hooks of the job to be ${status}`, async () => {
        const runs = await hooksOf(job);
        return runs.length > 0 && runs.every((run) => run.status === status) && runs;
      }),
  };
}
