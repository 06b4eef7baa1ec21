import { outputSchemaOf } from "@herdctl/config";
import type { Attempt, Job, Node } from "@herdctl/protocol";
import { configDirOf } from "../claude/credential.ts";
import { nextStep } from "../jobs/attempts/next-step.ts";
import { sessionRule } from "../jobs/attempts/session-plan.ts";
import { type SessionContext, settleRun } from "../jobs/attempts/settle-run.ts";
import type { JobServices } from "../jobs/services.ts";
import { reportFromReplicatedLog } from "../runner/recovery/report-from-replicated-log.ts";
import type { SharedStore } from "../store/contracts/shared-store.ts";

/**
 * Settles the attempts of a lost node like those of a dead runner: from the copied part of the log,
 * or as interrupted. Jobs that the node had not started return to the queue, because their
 * assignment has an old epoch. This can be interrupted and repeated, also by two nodes, because an
 * attempt ends only once. Returns false if the node is back, which then recovers its jobs itself.
 */
export async function settleLostNode(
  services: JobServices,
  shared: Pick<SharedStore, "nodes" | "outputs">,
  lostNode: Pick<Node, "id" | "epoch">,
): Promise<boolean> {
  const { jobs } = services.state;
  for (const job of await jobs.listUnfinished()) {
    if (job.node !== lostNode.id) continue;
    const attempts = await jobs.listAttempts(job.id);
    const openAttempt = attempts.at(-1);
    if (!openAttempt || openAttempt.finished_at !== null) continue;
    // Checked after the attempt was read, so that an attempt that the node started since its return
    // is not settled.
    if (!(await isStillLost(shared, lostNode))) return false;
    await settleAttempt(services, shared, { job, attempt: openAttempt, attempts });
  }
  return true;
}

async function isStillLost(
  { nodes }: Pick<SharedStore, "nodes">,
  { id, epoch }: Pick<Node, "id" | "epoch">,
): Promise<boolean> {
  const node = (await nodes.list()).find((candidate) => candidate.id === id);
  return node?.status === "lost" && node.epoch === epoch;
}

interface LostAttempt {
  job: Job;
  attempt: Attempt;
  attempts: Attempt[];
}

async function settleAttempt(
  services: JobServices,
  { outputs }: Pick<SharedStore, "outputs">,
  { job, attempt, attempts }: LostAttempt,
): Promise<void> {
  const { state, hub, fleet } = services;
  const agent = fleet().agents.find(({ name }) => name === job.agent);
  const now = new Date();
  const log = (await outputs.read(job.id, 0)).map(({ text }) => text).join("");
  const demandsReport = agent !== undefined && outputSchemaOf(agent, job.schedule) !== undefined;
  const { prices } = fleet();
  const report = reportFromReplicatedLog({ job, attempt, log, demandsReport, prices }, now);
  const { outcome, crashed } = report;
  const nextAction = agent
    ? nextStep({
        ...{ attempt: attempt.number, outcome, crashed, attempts },
        ...{ retry: agent.retry, now, random: Math.random() },
      })
    : { kind: "finish" as const, outcome };
  const holder = { ...(job.runner ?? unknownRunner), job_id: job.id, node: job.node };
  const settled = await settleRun(state, report, attemptedAtOf(services, job), holder, nextAction);
  hub.emit({ type: eventTypeOf(settled), job: settled });
  await services.onAttemptEnded(job.agent, outcome);
}

function eventTypeOf({ status }: Job): "job:completed" | "job:failed" | "job:waiting" {
  return status === "completed" || status === "failed" ? `job:${status}` : "job:waiting";
}

/** As far as it is known here; files of the lost node are not. */
function attemptedAtOf({ fleet, environment }: JobServices, job: Job): SessionContext {
  const agent = fleet().agents.find(({ name }) => name === job.agent);
  return {
    agent: job.agent,
    place: job.session_home ?? "cli",
    cwd: agent?.working_directory.path ?? "",
    configDir: configDirOf(environment()),
    expiresAfterMs: agent?.session.expires ?? 24 * 3_600_000,
    ownerSchedule: agent ? sessionRule(agent, job.schedule).ownerSchedule : null,
    isChat: job.trigger_type === "chat",
    node: job.node,
  };
}

const unknownRunner = { pid: 0, start_time: "", boot_id: "" };
