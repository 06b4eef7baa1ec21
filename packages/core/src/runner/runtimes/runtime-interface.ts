import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { ResolvedAgent, ResolvedAgentConfig } from "@herdctl/config";
import type {
  ElicitationAnswer,
  ElicitationRequest,
  PermissionAnswer,
  PermissionRequest,
} from "../contract/messages.ts";
import type { SessionChoice } from "../contract/run-order.ts";
import type { BridgedServers } from "./mcp/bridged-server.ts";
import type { RuntimeObserver, SpawnClaude } from "./spawn-claude.ts";

export type { SDKMessage };

/** A way to run Claude Code. All runtimes yield the same messages for the same options. */
export interface RuntimeInterface {
  /** Only the agent and the prompt are required; a job of herdctl passes every option that it has. */
  execute(options: ExecuteRequest): AsyncIterable<SDKMessage>;
  /** Call after a turn whose `claude` is kept: ends it if leftovers make it unusable. */
  endIfUnusable?(): Promise<void>;
}

export interface ExecuteRequest extends Partial<Omit<ExecuteOptions, "agent" | "prompt">> {
  agent: ResolvedAgentConfig;
  prompt: string;
}

export interface ExecuteOptions {
  agent: ResolvedAgent;
  prompt: string;
  /** Whether `@path` and `/command` in the prompt take effect; by default it is sent verbatim. */
  expandsReferences?: boolean;
  session: SessionChoice;
  /** Path of the `claude` program. */
  claude: string;
  /** Version of that program; null or absent while it is unknown. */
  claudeVersion?: string | null;
  cwd: string;
  /** The complete environment of the program; nothing is inherited from ours. */
  env: Record<string, string>;
  /** Additional Claude Code settings; validated when they are merged with herdctl's. */
  settings?: unknown;
  /** A folder for files that only this run can read. */
  privateDir: string;
  /** The path of that folder as seen by the program, if it differs. */
  privateDirAsSeen?: string;
  /** A folder with sockets that the program may connect to; `env` has their paths. */
  socketDir?: string;
  /** A folder for the private git directory of a container. */
  gitDir?: string;
  /** The user's login file, for a program that cannot find it by itself. */
  authFile?: string;
  /** The job and attempt, for container labels. */
  run?: { jobId: string; attempt: number };
  /** The transcript, if its path does not follow from `env` and `cwd`. */
  sessionFile?: string;
  /** An abort asks the agent to stop, then kills it. */
  signal: AbortSignal;
  /** Called when a tool needs permission. Without it, the tool is denied. */
  onPermission?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;
  /** Called when an MCP server asks a person for data. Without it, the request is cancelled. */
  onElicitation?: (request: ElicitationRequest, signal: AbortSignal) => Promise<ElicitationAnswer>;
  /** MCP servers that the runner connects to claude over the control protocol, by name. */
  bridgedServers?: BridgedServers;
  /** Also yield partial messages while the model generates them. */
  partialMessages?: boolean;
  /** There is no prompt yet: `claude` is started before its job. */
  isPrewarm?: boolean;
  /** Whether `claude` may keep running after this turn. */
  keepAlive?: boolean;
  observer?: RuntimeObserver;
  /** Starts the program (default: on the host). */
  spawn?: SpawnClaude;
}
