import { outputSchemaOf } from "../../config/output-schema.ts";
import { nextStep } from "../../runner/next-step.ts";
import { configDirOf } from "../../runner/prepare-run.ts";
import { sessionRule } from "../../runner/session-plan.ts";
import { type AttemptedAt, settleRun } from "../../runner/settle-run.ts";
import { reportOfShipped } from "../../runner-process/report-of-shipped.ts";
import type { Attempt, Job } from "../../state/job.ts";
import type { Node } from "../../state/node.ts";
import type { SharedStore } from "../../state/shared.ts";
import type { FleetContext } from "../context.ts";

/**
 * Settles what a lost node had begun, by the rules of a dead runner: from what had come over of its
 * log, or as broken off. What it was given and had not begun goes back by itself, since whoever
 * hands out looks at the epoch. Can be cut off and done again, and by two at once: an attempt ends
 * once. False when the node is back, which then sees to it itself.
 */
export async function settleLost(
  context: FleetContext,
  shared: Pick<SharedStore, "nodes" | "outputs">,
  lost: Pick<Node, "id" | "epoch">,
): Promise<boolean> {
  const { jobs } = context.state;
  for (const job of await jobs.unfinished()) {
    if (job.node !== lost.id) continue;
    const attempts = await jobs.attempts(job.id);
    const open = attempts.at(-1);
    if (!open || open.finished_at !== null) continue;
    // Asked after the attempt was read: one that it began since it came back is not settled.
    if (!(await isStillLost(shared, lost))) return false;
    await settleAttempt(context, shared, { job, attempt: open, attempts });
  }
  return true;
}

async function isStillLost(
  { nodes }: Pick<SharedStore, "nodes">,
  { id, epoch }: Pick<Node, "id" | "epoch">,
): Promise<boolean> {
  const node = (await nodes.list()).find((one) => one.id === id);
  return node?.status === "lost" && node.epoch === epoch;
}

interface LostAttempt {
  job: Job;
  attempt: Attempt;
  attempts: Attempt[];
}

async function settleAttempt(
  context: FleetContext,
  { outputs }: Pick<SharedStore, "outputs">,
  { job, attempt, attempts }: LostAttempt,
): Promise<void> {
  const { state, hub, fleet } = context;
  const agent = fleet().agents.find(({ name }) => name === job.agent);
  const now = new Date();
  const log = (await outputs.read(job.id, 0)).map(({ text }) => text).join("");
  const demandsReport = agent !== undefined && outputSchemaOf(agent, job.schedule) !== undefined;
  const report = reportOfShipped({ job, attempt, log, demandsReport }, now);
  const { outcome, crashed } = report;
  const next = agent
    ? nextStep({
        ...{ attempt: attempt.number, outcome, crashed, attempts },
        ...{ retry: agent.retry, now, random: Math.random() },
      })
    : { kind: "finish" as const, outcome };
  const holder = { ...(job.runner ?? nobody), job_id: job.id, node: job.node };
  const settled = await settleRun(state, report, placeOf(context, job), holder, next);
  hub.emit({ type: eventOf(settled), job: settled });
  await context.concluded(job.agent, outcome);
}

function eventOf({ status }: Job): "job:completed" | "job:failed" | "job:waiting" {
  return status === "completed" || status === "failed" ? `job:${status}` : "job:waiting";
}

/** As far as it is known here: what lay on the lost node only is not. */
function placeOf({ fleet, environment }: FleetContext, job: Job): AttemptedAt {
  const agent = fleet().agents.find(({ name }) => name === job.agent);
  return {
    agent: job.agent,
    place: job.place ?? "cli",
    cwd: agent?.working_directory.path ?? "",
    configDir: configDirOf(environment()),
    expiresAfter: agent?.session.expires ?? 24 * 3_600_000,
    ownOf: agent ? sessionRule(agent, job.schedule).ownOf : null,
    inChat: job.trigger_type === "chat",
    node: job.node,
  };
}

const nobody = { pid: 0, start_time: "", boot_id: "" };
