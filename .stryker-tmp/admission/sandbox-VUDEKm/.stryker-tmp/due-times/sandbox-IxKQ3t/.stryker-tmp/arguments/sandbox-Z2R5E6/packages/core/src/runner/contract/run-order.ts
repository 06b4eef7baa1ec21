import type { JsonSchema, ResolvedAgent } from "@herdctl/config";
import type { SessionHomeKind } from "@herdctl/protocol";
import type { SpendPlan } from "./spend-plan.ts";

/** Everything a runner needs to run one attempt, except the environment, which holds secrets. */
export interface RunOrder {
  jobId: string;
  attempt: number;
  agent: ResolvedAgent;
  prompt: string;
  /** Whether `@path` and `/command` in the prompt take effect; otherwise it is sent verbatim. */
  expandsReferences?: boolean;
  place: SessionHomeKind;
  /** The path on the host, also if the container mounts it at another path. */
  cwd: string;
  session: SessionChoice;
  /** The folder on the host where claude keeps its sessions. */
  configDir: string;
  /** The version is null for an image until claude reports it. */
  claude: { path: string; version: string | null };
  partialMessages: boolean;
  /** Schema of the report that the run must return. */
  outputSchema?: JsonSchema;
  /** Keep `claude` running for the next turn of the session if this turn succeeds. */
  keepAlive?: boolean;
  /** Absent for a `claude` that is started before its job and may not spend anything. */
  spend?: SpendPlan;
}

/** `docker` for agents in a container, otherwise the type of the runtime. */
export function sessionHomeKindOf(
  agent: Pick<ResolvedAgent, "runtime" | "docker">,
): SessionHomeKind {
  return agent.docker.enabled ? "docker" : agent.runtime.type;
}

export type SessionChoice =
  | { kind: "fresh"; sessionId: string }
  | { kind: "resume"; sessionId: string }
  /** `at`: the last message to copy; by default all messages are copied. */
  | { kind: "fork"; from: string; at?: string; sessionId: string };

/** The configuration of an agent without the parts that do not affect its `claude`. */
export function claudeVisibleConfig({
  schedules: _schedules,
  hooks: _hooks,
  chat: _chat,
  ...rest
}: ResolvedAgent) {
  return rest;
}
