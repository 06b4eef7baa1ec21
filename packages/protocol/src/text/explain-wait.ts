import type { AgentStatus, FleetStatus } from "../api/fleet-control.ts";
import type { Approval } from "../records/approval.ts";
import type { Job } from "../records/job.ts";

export interface WaitFacts {
  /** Undefined if the agent is no longer configured. */
  agent: Pick<AgentStatus, "name" | "paused" | "running" | "max_concurrent"> | undefined;
  /** Undefined if no fleet is running. */
  fleet: Pick<FleetStatus["fleet"], "running" | "max_concurrent" | "state"> | undefined;
  /** Open approvals; undefined if they were not read. */
  approvals?: readonly Approval[] | undefined;
  /** Shows a time in the reader's time zone. */
  formatTime(time: string): string;
}

/** Why a job is not running, and what ends the wait. */
export interface WaitExplanation {
  text: string;
  /** The command that ends the wait, if there is one. */
  command?: string;
}

type WaitingJob = Pick<Job, "id" | "agent" | "status" | "outcome" | "due_at" | "waits_for">;

/** Undefined if the job has finished, is running, or starts at this moment. */
export function explainWait(job: WaitingJob, facts: WaitFacts): WaitExplanation | undefined {
  if (job.status === "waiting") return explainWaiting(job, facts);
  return job.status === "pending" ? explainPending(job, facts) : undefined;
}

function explainWaiting(job: WaitingJob, facts: WaitFacts): WaitExplanation {
  const { outcome, due_at, waits_for } = job;
  const until = due_at ?? outcome?.resets_at;
  if (until !== undefined) {
    const command =
      outcome?.code === "usage_limit" ? `herdctl retry ${job.id} --try-now` : undefined;
    const reason = outcome ? `${outcome.code}: ${outcome.message}` : "waiting.";
    const text = `${reason} Continues at ${facts.formatTime(until)}.`;
    return command === undefined ? { text } : { text, command };
  }
  if (waits_for.length > 0) return { text: `waiting for ${listJobs(waits_for)}` };
  const approval = facts.approvals?.find(({ job_id }) => job_id === job.id);
  const asked =
    approval?.kind === "permission" ? `permission to use ${approval.tool}` : "an answer";
  const limit = approval ? ` until ${facts.formatTime(approval.expires_at)}` : "";
  return { text: `waiting for a person: ${asked}${limit}`, command: "herdctl approvals" };
}

function explainPending(
  job: WaitingJob,
  { agent, fleet, formatTime }: WaitFacts,
): WaitExplanation | undefined {
  if (agent === undefined)
    return { text: `queued: there is no agent \`${job.agent}\` in the configuration` };
  const { name, paused, running, max_concurrent } = agent;
  if (paused)
    return {
      text: `queued: ${name} is paused (${paused.reason})`,
      command: `herdctl resume ${name}`,
    };
  if (fleet === undefined) return { text: "queued: no fleet is running", command: "herdctl start" };
  if (fleet.state === "draining") return { text: "queued: the fleet is stopping" };
  if (job.due_at !== null) return { text: `queued until ${formatTime(job.due_at)}` };
  const ahead = running.map(({ job_id }) => job_id).filter((id) => id !== job.id);
  if (ahead.length >= max_concurrent) return { text: `queued behind ${listJobs(ahead)}` };
  if (fleet.running >= fleet.max_concurrent)
    return {
      text: `queued: the fleet runs ${fleet.running} jobs, as many as \`fleet.max_concurrent\` allows`,
    };
  return undefined;
}

function listJobs([first = "", ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}
