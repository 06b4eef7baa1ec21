import type { ResolvedAgent } from "../config/resolve.ts";
import type { Place } from "../state/job.ts";
import type { SessionChoice } from "./runtime/interface.ts";

/** All that a runner needs to carry out one attempt, but for the environment, which holds secrets. */
export interface RunOrder {
  jobId: string;
  attempt: number;
  agent: ResolvedAgent;
  prompt: string;
  place: Place;
  cwd: string;
  session: SessionChoice;
  /** Where claude keeps its sessions; its own default when not given. */
  configDir: string;
  claude: { path: string; version: string };
  partialMessages: boolean;
}

/** Every run is on the host, where the runtime makes the place. */
export function placeOf(agent: Pick<ResolvedAgent, "runtime">): Place {
  return agent.runtime.type;
}

/** Unique to an attempt: whatever carries it belongs to that attempt and to nothing else. */
export function runTokenOf(order: Pick<RunOrder, "jobId" | "attempt">): string {
  return `${order.jobId}.${order.attempt}`;
}
