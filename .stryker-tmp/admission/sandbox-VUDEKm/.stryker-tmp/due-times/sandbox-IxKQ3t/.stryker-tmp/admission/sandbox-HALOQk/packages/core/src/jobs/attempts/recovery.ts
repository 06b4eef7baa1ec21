import type { Attempt, Job } from "@herdctl/protocol";
import { readClaim } from "../../runner/contract/claim-file.ts";
import { inspectRunner } from "../../runner/recovery/inspect-runner.ts";
import { failPoint } from "../../testing/failpoints.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { JobServices } from "../services.ts";
import { ActiveJob } from "./active-job.ts";
import { defaultOutcome } from "./begin-attempt.ts";
import { sessionRule } from "./session-plan.ts";
import type { SessionContext } from "./settle-run.ts";

export interface RecoveryResult {
  reattached: string[];
  settled: string[];
}

/**
 * Adopts what an earlier fleet process left: running attempts are followed, attempts with a dead
 * runner are settled. Each step can be interrupted and repeated.
 */
export async function recover(
  services: JobServices,
  dispatcher: Dispatcher,
): Promise<RecoveryResult> {
  const result: RecoveryResult = { reattached: [], settled: [] };
  const settling: Promise<void>[] = [];
  for (const job of await services.state.jobs.listUnfinished()) {
    if (dispatcher.isDetached) break;
    // Other nodes recover their own jobs, and active jobs are already followed.
    if (services.nodeId !== undefined && job.node !== services.nodeId) continue;
    if (services.activeJobs.has(job.id)) continue;
    const attempt = (await services.state.jobs.listAttempts(job.id)).at(-1);
    if (!attempt || attempt.finished_at !== null) continue;
    failPoint("recovery begun");
    const runner = await inspectRunner(services.state.jobDir(job.id), attempt.number);
    const active = new ActiveJob(services, job);
    if (runner.kind === "alive") {
      result.reattached.push(job.id);
      void dispatcher.track(
        active,
        active.reattach(runner.identity, await readSessionContext(services, job)),
      );
    } else {
      result.settled.push(job.id);
      settling.push(
        runner.kind === "dead"
          ? settleDeadAttempt(services, dispatcher, active, job)
          : voidAttempt(services, job, attempt),
      );
    }
  }
  await Promise.all(settling);
  failPoint("recovery done");
  return result;
}

async function settleDeadAttempt(
  services: JobServices,
  dispatcher: Dispatcher,
  active: ActiveJob,
  job: Job,
): Promise<void> {
  const sessionContext = await readSessionContext(services, job);
  const holder = { ...(job.runner ?? unknownProcess), job_id: job.id, ...nodeField(services) };
  await dispatcher.track(active, active.settleDeadAttempt(sessionContext, holder));
}

/** No runner was started. The job returns to the queue, and the void attempt stays on record. */
async function voidAttempt({ state, hub }: JobServices, job: Job, attempt: Attempt): Promise<void> {
  failPoint("attempt void");
  const outcome = defaultOutcome("interrupted");
  const end = { outcome_code: outcome.code, session_id: null, cost_usd: null };
  const change = { status: "waiting" as const, outcome, due_at: new Date().toISOString() };
  const ended = await state.jobs.endAttempt(job.id, attempt.number, end, change);
  hub.emit({ type: "job:waiting", job: ended.job });
}

async function readSessionContext(services: JobServices, job: Job): Promise<SessionContext> {
  const { state, fleet } = services;
  const claim = await readClaim(state.jobDir(job.id), job.attempts);
  const run = claim.kind === "found" ? claim.file.run : null;
  const agent = fleet().agents.find(({ name }) => name === job.agent);
  return {
    agent: job.agent,
    place: job.session_home ?? "cli",
    cwd: run?.cwd ?? "",
    configDir: run?.config_dir ?? "",
    expiresAfterMs: agent?.session.expires ?? 24 * 3_600_000,
    ownerSchedule: agent ? sessionRule(agent, job.schedule).ownerSchedule : null,
    isChat: job.trigger_type === "chat",
    ...nodeField(services),
  };
}

/** The lease holder before a runner was known: an earlier fleet process, which is dead. */
const unknownProcess = { pid: 0, start_time: "", boot_id: "" };

function nodeField({ nodeId }: JobServices): { node?: string } {
  return nodeId === undefined ? {} : { node: nodeId };
}
