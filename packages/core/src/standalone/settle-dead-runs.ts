import type { Environment, ResolvedAgent } from "@herdctl/config";
import type { Job } from "@herdctl/protocol";
import { settleRun } from "../jobs/attempts/settle-run.ts";
import { isAlive } from "../lib/process-identity.ts";
import type { RunnerClaim } from "../runner/contract/messages.ts";
import { readClaim } from "../runner/contract/paths.ts";
import { collectRunReport } from "../runner/recovery/collect-report.ts";
import type { StateManager } from "../store/state-manager.ts";
import { skipHooks } from "./run-job.ts";

/**
 * Records the end of runs whose program was killed, and removes their processes and containers. Runs
 * of a fleet are left to that fleet.
 */
export async function settleDeadRuns(
  state: StateManager,
  agent: ResolvedAgent,
  environment: Environment,
): Promise<void> {
  for (const { id, status } of await state.jobs.listLive()) {
    if (status === "pending") continue;
    const job = await state.jobs.get(id);
    if (!job) continue;
    const claim = await readClaim(state.jobDir(id), job.attempts);
    if (claim.kind !== "found" || !isDeadStandalone(claim.file)) continue;
    await settleDeadRun(state, job, claim.file, { agent, environment });
  }
}

function isDeadStandalone({ standalone, runner }: RunnerClaim): boolean {
  return standalone === true && runner !== null && !isAlive(runner);
}

async function settleDeadRun(
  state: StateManager,
  job: Job,
  { run, runner }: RunnerClaim,
  { agent, environment }: { agent: ResolvedAgent; environment: Environment },
): Promise<void> {
  const configured = agent.name === job.agent ? agent : undefined;
  const { stateDir } = state;
  const report = await collectRunReport({ stateDir, job, environment, agent: configured });
  const context = {
    agent: job.agent,
    place: job.session_home ?? "cli",
    cwd: run?.cwd ?? "",
    configDir: run?.config_dir ?? "",
    expiresAfterMs: agent.session.expires,
    ownerSchedule: null,
    isChat: false,
  };
  const holder = { ...(runner ?? unknownProcess), job_id: job.id };
  const next = { kind: "finish" as const, outcome: report.outcome };
  await skipHooks(state, await settleRun(state, report, context, holder, next));
}

const unknownProcess = { pid: 0, start_time: "", boot_id: "" };
