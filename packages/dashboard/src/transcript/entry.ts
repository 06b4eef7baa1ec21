import type { UnknownFields } from "./unknown-fields.ts";

/** One entry in the conversation of a job. */
export type Entry = ModelTextEntry | ToolEntry | UserTextEntry | MarkerEntry | ResultEntry;

interface EntryBase {
  key: string;
  /** Unix time in milliseconds; null if the log has no time. */
  at: number | null;
  /** The offset of its line in the output. */
  offset: number;
  /** Increases whenever the entry changes, so that only changed entries render again. */
  revision: number;
  /** The uuid of the message in the session transcript; a fork can start after it. */
  uuid: string | null;
  turn: Turn | null;
}

/** Text or thinking of the model. */
export interface ModelTextEntry extends EntryBase {
  kind: "text" | "thinking";
  text: string;
  isStreaming: boolean;
}

export interface ToolEntry extends EntryBase {
  kind: "tool";
  id: string;
  tool: string;
  input: UnknownFields;
  /** The model is still writing the tool call. */
  isStreaming: boolean;
  endedAt: number | null;
  result: ToolResult | null;
  task: BackgroundTask | null;
  deniedReason: string | null;
  /** The entries of the subagent that this call started. */
  children: Entry[];
  /** The number of all nested entries. */
  descendants: number;
}

export interface ToolResult {
  isError: boolean;
  text: string;
  images: { type: string; data: string }[];
  diff: Diff | null;
  uuid: string | null;
}

export interface Diff {
  file: string;
  hunks: { oldStart: number; newStart: number; lines: string[] }[];
}

/** A subagent or shell, which may outlive its tool call. */
interface BackgroundTask {
  id: string;
  isBackground: boolean;
  status: string;
  activity: string;
  tokens: number | null;
}

/** A message sent to the agent during the job. */
interface UserTextEntry extends EntryBase {
  kind: "user";
  text: string;
}

export type Marker =
  | "started"
  | "retry"
  | "limit"
  | "denied"
  | "compacted"
  | "task"
  | "lost"
  | "note";

export interface MarkerEntry extends EntryBase {
  kind: "marker";
  marker: Marker;
  text: string;
  isError: boolean;
  /** Only for retries. */
  retryDelayMs: number | null;
}

/** The result message that ends a run, with its cost. */
export interface ResultEntry extends EntryBase {
  kind: "end";
  isError: boolean;
  text: string;
  /** The cost since the previous result; for the first one, since the session began. */
  costUsd: number | null;
  isFirst: boolean;
  turns: number | null;
  durationMs: number | null;
  apiMs: number | null;
  usage: Usage | null;
}

export interface Usage {
  input: number;
  output: number | null;
  cacheRead: number;
  cacheWrite: number;
}

/** One model response, as counted by `max_turns`. */
export interface Turn {
  key: string;
  /** Increases whenever the turn changes. */
  revision: number;
  number: number;
  /** The tool call that started the subagent; null for the main agent. */
  parent: string | null;
  model: string | null;
  startedAt: number | null;
  endedAt: number | null;
  usage: Usage | null;
  /** Its first entry in the conversation. */
  entryKey: string | null;
}
