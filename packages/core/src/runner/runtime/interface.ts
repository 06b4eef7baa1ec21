import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { ResolvedAgent } from "../../config/resolve.ts";
import type { ContainerSeen } from "../container/container-end.ts";
import type { SpareContainer } from "../container/spare.ts";
import type { RunCgroup } from "../sweep/cgroup.ts";
import type { BridgedServers } from "./mcp/bridged-server.ts";
import type { PermissionAnswer, PermissionRequest } from "./permission.ts";
import type { ProcessExit, SpawnClaude } from "./spawn.ts";

export type { SDKMessage };

/** One way to run Claude Code. All of them yield the same messages for the same options. */
export interface RuntimeInterface {
  execute(options: ExecuteOptions): AsyncIterable<SDKMessage>;
  /** After a turn whose `claude` stays up: what it left may be such that both have to end. */
  endIfUsedUp?(): Promise<void>;
}

export interface ExecuteOptions {
  agent: ResolvedAgent;
  prompt: string;
  /** Whether `@path` and `/command` in the prompt take effect; by default it is sent verbatim. */
  expand?: boolean;
  session: SessionChoice;
  /** The `claude` program. */
  claude: string;
  /** The version of that program; null or absent when it is not known yet. */
  claudeVersion?: string | null;
  cwd: string;
  /** The whole environment of the program; nothing is added from ours. */
  env: Record<string, string>;
  /** Claude Code settings beside our own; unchecked until they are merged. */
  settings?: unknown;
  /** A folder for files that only this run may read. */
  privateDir: string;
  /** The same folder as the program sees it, where that is another path. */
  privateDirInside?: string;
  /** A folder of sockets that the program may connect to; `env` names them. */
  doorDir?: string;
  /** A folder for the private git directory of a container. */
  gitDir?: string;
  /** The user's own login, for a program that cannot find it by itself. */
  authFile?: string;
  /** A container that was made for this agent before its job was known. */
  spare?: SpareContainer;
  /** Which attempt this is, for whoever keeps it apart from others. */
  run?: { jobId: string; attempt: number };
  /** The transcript, where it does not lie where `env` and `cwd` say. */
  sessionFile?: string;
  /** Aborting asks the agent to stop, then makes it. */
  signal: AbortSignal;
  /** Asked when a tool needs permission; without it the tool is denied. */
  onPermission?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;
  /** MCP servers that stay with us and reach claude over the control protocol, by their names. */
  bridgedServers?: BridgedServers;
  /** Also yield pieces of messages as the model speaks them. */
  partialMessages?: boolean;
  /** There is no prompt yet: its `claude` is started for a job to come. */
  ahead?: boolean;
  /** Whether its `claude` may stay up after this turn. */
  stays?: boolean;
  observer?: RuntimeObserver;
  /** How the program is started; a container puts its own way here. */
  spawn?: SpawnClaude;
}

export type SessionChoice =
  | { kind: "fresh"; sessionId: string }
  | { kind: "resume"; sessionId: string }
  /** `at`: the last message that is taken over; without it all of them are. */
  | { kind: "fork"; from: string; at?: string; sessionId: string };

/** What a run shows beside its messages; evidence for its outcome. */
export interface RuntimeObserver {
  /** `group`: where it was put before it began, if it was. */
  spawned?(pid: number | undefined, group?: RunCgroup): void;
  /** Bytes came from the program, whether or not they make a message yet. */
  activity?(): void;
  /** Whether every message so far has been taken and kept; output is dropped for a reader that lags. */
  isCaughtUp?(): boolean;
  stderr?(text: string): void;
  /** A bridged server has a process, which belongs to the run like claude's own. */
  serverSpawned?(pid: number): void;
  /** What became of a bridged server, for the log; no evidence of how the run ended. */
  serverNote?(text: string): void;
  exited?(exit: ProcessExit): void;
  /** It has had its last word and stays up for the next turn of its session. */
  waits?(): void;
  /** What is known of the container, when there is one; told again at its end. */
  container?(facts: ContainerSeen): void;
  /** What the operator should know though the run goes on. */
  warning?(text: string): void;
}
