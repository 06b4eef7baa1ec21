import type { JsonSchema } from "../config/json-schema.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import type { Place } from "../state/job.ts";
import type { SessionChoice } from "./runtime/interface.ts";
import type { SpendPlan } from "./spend-plan.ts";

/** All that a runner needs to carry out one attempt, but for the environment, which holds secrets. */
export interface RunOrder {
  jobId: string;
  attempt: number;
  agent: ResolvedAgent;
  prompt: string;
  /** Whether `@path` and `/command` in the prompt take effect; otherwise it is sent verbatim. */
  expand?: boolean;
  place: Place;
  /** On this machine, also when the agent sees another path. */
  cwd: string;
  session: SessionChoice;
  /** Where claude keeps its sessions, on this machine. */
  configDir: string;
  /** The version of the one in an image is known when it tells it. */
  claude: { path: string; version: string | null };
  partialMessages: boolean;
  /** What the report that is demanded of the run has to hold. */
  outputSchema?: JsonSchema;
  /** Its `claude` stays up for the next turn of the session, when this one ends well. */
  live?: boolean;
  /** Of an order that is carried out; a `claude` that is started ahead may not spend anything. */
  spend?: SpendPlan;
}

/** On the host the runtime makes the place; in a container the container does. */
export function placeOf(agent: Pick<ResolvedAgent, "runtime" | "docker">): Place {
  return agent.docker.enabled ? "docker" : agent.runtime.type;
}

/** Unique to an attempt: whatever carries it belongs to that attempt and to nothing else. */
export function runTokenOf(order: Pick<RunOrder, "jobId" | "attempt">): string {
  return `${order.jobId}.${order.attempt}`;
}
