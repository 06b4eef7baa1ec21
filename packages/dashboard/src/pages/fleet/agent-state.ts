import type { AgentStatus } from "@herdctl/server/contract";
import type { Tone } from "../../ui/tone.ts";
import type { Show } from "./search.ts";

export interface AgentState {
  word: "running" | "waiting" | "paused" | "queued" | "idle";
  tone: Tone;
}

/** The one word for an agent: what concerns a person most comes first. */
export function stateOf({ paused, running, waiting, pending }: Facts): AgentState {
  // A run that waits for a person or a limit is still one of those that run.
  if (running.length > waiting) return { word: "running", tone: "live" };
  if (paused) return { word: "paused", tone: "warn" };
  if (waiting > 0) return { word: "waiting", tone: "wait" };
  return pending > 0 ? { word: "queued", tone: "idle" } : { word: "idle", tone: "idle" };
}

type Facts = Pick<AgentStatus, "paused" | "running" | "waiting" | "pending">;

const isShown: Record<Show, (agent: AgentStatus) => boolean> = {
  running: ({ running }) => running.length > 0,
  waiting: ({ waiting }) => waiting > 0,
  paused: ({ paused }) => paused !== null,
  failed: ({ last_job }) => last_job?.outcome != null && !fine.includes(last_job.outcome),
};

const fine = ["success", "finished_with_denials", "cancelled"];

export function matching(agents: AgentStatus[], { q, show }: { q?: string; show?: Show }) {
  const part = q?.toLowerCase() ?? "";
  return agents.filter(
    (agent) =>
      (show === undefined || isShown[show](agent)) &&
      `${agent.name} ${agent.description ?? ""}`.toLowerCase().includes(part),
  );
}

/** What it does, in words, when something has to be said. */
export function workOf(agent: AgentStatus): string {
  const { paused, waiting, pending } = agent;
  if (paused) return `paused: ${paused.reason}`;
  const queue = [waiting > 0 && `${waiting} waiting`, pending > 0 && `${pending} queued`].filter(
    Boolean,
  );
  return queue.join(", ");
}
