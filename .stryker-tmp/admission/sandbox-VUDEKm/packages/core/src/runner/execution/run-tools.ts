import type { Question, Reply } from "@herdctl/protocol";
import type { BridgedServers } from "../runtimes/mcp/bridged-server.ts";

/** Tools that herdctl gives an agent in addition to those of claude. */
export interface RunTools {
  servers: BridgedServers;
  /** Full names of the tools that need no permission. */
  allowed: readonly string[];
}

export type CreateRunTools = (run: RunToolContext) => RunTools;

/** Operations of the run that tools can use. */
export interface RunToolContext {
  /** Adds a line to the job's log. */
  note(note: ToolNote): Promise<void>;
  /** The run does not count as stalled while it waits for `answer`. */
  whileAwaiting<T>(answer: Promise<T>): Promise<T>;
  /** Asks a person; withdrawn when the run ends. */
  question(question: Question, signal: AbortSignal): Promise<Reply>;
}

export interface ToolNote {
  tool: string;
  event: string;
  [detail: string]: unknown;
}
