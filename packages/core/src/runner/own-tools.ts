import type { Question, Reply } from "../state/question.ts";
import type { BridgedServers } from "./runtime/mcp/bridged-server.ts";

/** Tools of ours that an agent has beside those of claude. Whoever composes a run brings them. */
export interface OwnTools {
  servers: BridgedServers;
  /** Used without a question, by their whole names. */
  allowed: readonly string[];
}

export type MakeOwnTools = (run: RunDoors) => OwnTools;

/** What a run opens to them. */
export interface RunDoors {
  /** Into the job's log, beside what claude says. */
  note(note: HerdNote): Promise<void>;
  /** While an answer is awaited, silence is no stall. */
  awaiting<T>(answer: Promise<T>): Promise<T>;
  /** Put before a person, as long as the run lasts. */
  question(question: Question, signal: AbortSignal): Promise<Reply>;
}

export interface HerdNote {
  tool: string;
  event: string;
  [detail: string]: unknown;
}
