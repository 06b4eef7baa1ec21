import type { AgentStatus } from "@herdctl/server/contract";
import { capitalize } from "../../ui/sentence-case.ts";
import type { Tone } from "../../ui/tone.ts";

export interface AgentState {
  label: "running" | "waiting" | "paused" | "queued" | "idle";
  tone: Tone;
}

/** The state of an agent; the most important state wins. */
export function toAgentState({ paused, running, waiting, pending }: AgentCounts): AgentState {
  // `running` includes runs that wait for a person or a limit.
  if (running.length > waiting) return { label: "running", tone: "live" };
  if (paused) return { label: "paused", tone: "warn" };
  if (waiting > 0) return { label: "waiting", tone: "wait" };
  return pending > 0 ? { label: "queued", tone: "idle" } : { label: "idle", tone: "idle" };
}

type AgentCounts = Pick<AgentStatus, "paused" | "running" | "waiting" | "pending">;

/** Why an agent is paused, or how many jobs wait; empty if there is nothing to report. */
export function describeWork(agent: AgentStatus): string {
  const { paused, waiting, pending } = agent;
  if (paused) return capitalize(paused.reason);
  const queue = [waiting > 0 && `${waiting} waiting`, pending > 0 && `${pending} queued`].filter(
    Boolean,
  );
  return queue.join(", ");
}
