import { failPoint } from "../faults/fail-point.ts";
import { plainOutcome } from "../runner/begin-attempt.ts";
import { sessionRule } from "../runner/session-plan.ts";
import type { AttemptedAt } from "../runner/settle-run.ts";
import { readClaim } from "../runner-process/claim.ts";
import { inspectRunner } from "../runner-process/inspect.ts";
import type { Attempt, Job } from "../state/job.ts";
import { ActiveJob } from "./active-job.ts";
import type { FleetContext } from "./context.ts";
import type { Dispatcher } from "./dispatcher.ts";

export interface Recovered {
  reattached: string[];
  settled: string[];
}

/**
 * Takes over what an earlier fleet process left: attempts that run are followed, attempts whose
 * runner is dead are settled. Each step can be cut off and done again.
 */
export async function recover(context: FleetContext, dispatcher: Dispatcher): Promise<Recovered> {
  const recovered: Recovered = { reattached: [], settled: [] };
  const settling: Promise<void>[] = [];
  for (const job of await context.state.jobs.unfinished()) {
    if (dispatcher.isLeft) break;
    // What runs on another node is that one's matter, and what is active here is looked after.
    if (context.nodeId !== undefined && job.node !== context.nodeId) continue;
    if (dispatcher.active.has(job.id)) continue;
    const attempt = (await context.state.jobs.attempts(job.id)).at(-1);
    if (!attempt || attempt.finished_at !== null) continue;
    failPoint("recovery begun");
    const runner = await inspectRunner(context.state.jobDir(job.id), attempt.number);
    const active = new ActiveJob(context, job);
    if (runner.kind === "alive") {
      recovered.reattached.push(job.id);
      void dispatcher.track(
        active,
        active.reattach(runner.identity, await placeOfAttempt(context, job)),
      );
    } else {
      recovered.settled.push(job.id);
      settling.push(
        runner.kind === "dead"
          ? settle(context, dispatcher, active, job)
          : voidAttempt(context, job, attempt),
      );
    }
  }
  await Promise.all(settling);
  failPoint("recovery done");
  return recovered;
}

async function settle(
  context: FleetContext,
  dispatcher: Dispatcher,
  active: ActiveJob,
  job: Job,
): Promise<void> {
  const at = await placeOfAttempt(context, job);
  const holder = { ...(job.runner ?? nobody), job_id: job.id, ...nodeOf(context) };
  await dispatcher.track(active, active.settleDead(at, holder));
}

/** Nothing was started: the job is as it was before, but for the attempt on its record. */
async function voidAttempt(
  { state, hub }: FleetContext,
  job: Job,
  attempt: Attempt,
): Promise<void> {
  failPoint("attempt void");
  const outcome = plainOutcome("interrupted");
  const end = { outcome_code: outcome.code, session_id: null, cost_usd: null };
  const change = { status: "waiting" as const, outcome, due_at: new Date().toISOString() };
  const ended = await state.jobs.endAttempt(job.id, attempt.number, end, change);
  hub.emit({ type: "job:waiting", job: ended.job });
}

async function placeOfAttempt(context: FleetContext, job: Job): Promise<AttemptedAt> {
  const { state, fleet } = context;
  const claim = await readClaim(state.jobDir(job.id), job.attempts);
  const run = claim.kind === "found" ? claim.file.run : null;
  const agent = fleet().agents.find(({ name }) => name === job.agent);
  return {
    agent: job.agent,
    place: job.place ?? "cli",
    cwd: run?.cwd ?? "",
    configDir: run?.config_dir ?? "",
    expiresAfter: agent?.session.expires ?? 24 * 3_600_000,
    ownOf: agent ? sessionRule(agent, job.schedule).ownOf : null,
    inChat: job.trigger_type === "chat",
    ...nodeOf(context),
  };
}

/** Before a runner was known the lease was ours, and we were somebody who is dead now. */
const nobody = { pid: 0, start_time: "", boot_id: "" };

function nodeOf({ nodeId }: FleetContext): { node?: string } {
  return nodeId === undefined ? {} : { node: nodeId };
}
