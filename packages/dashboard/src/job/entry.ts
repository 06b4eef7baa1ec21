import type { Fields } from "./fields.ts";

/** One thing that a person reads in the conversation of a job. */
export type Entry = SaidEntry | ToolEntry | HeardEntry | MarkerEntry | EndEntry;

interface Common {
  key: string;
  /** Milliseconds; null where the log does not tell. */
  at: number | null;
  /** Where its line begins in the output. */
  offset: number;
  /** Goes up whenever the entry changes, so that only what changed is drawn anew. */
  revision: number;
  /** Of the message in the transcript: a fork can begin after it. */
  uuid: string | null;
  turn: Turn | null;
}

/** What the model said, or thought; open while it is still at it. */
export interface SaidEntry extends Common {
  kind: "text" | "thinking";
  text: string;
  isOpen: boolean;
}

export interface ToolEntry extends Common {
  kind: "tool";
  id: string;
  tool: string;
  input: Fields;
  /** The tool is still being written by the model. */
  isOpen: boolean;
  endedAt: number | null;
  result: ToolResult | null;
  task: Task | null;
  denied: string | null;
  /** What the subagent did that this call started. */
  children: Entry[];
  /** How many there are, theirs included. */
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

/** A subagent or a shell, which may go on after its tool call. */
interface Task {
  id: string;
  isBackground: boolean;
  status: string;
  doing: string;
  tokens: number | null;
}

/** What was said to the agent in the middle of its work. */
interface HeardEntry extends Common {
  kind: "heard";
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

export interface MarkerEntry extends Common {
  kind: "marker";
  marker: Marker;
  text: string;
  isError: boolean;
  /** How long it will take, of a retry. */
  lastsMs: number | null;
}

/** A result: the end of what was asked, with what it cost. */
export interface EndEntry extends Common {
  kind: "end";
  isError: boolean;
  text: string;
  /** What has been added since the result before. */
  costUsd: number | null;
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

/** One answer of the model, as `max_turns` counts them. */
export interface Turn {
  key: string;
  /** Goes up whenever it changes. */
  revision: number;
  number: number;
  /** The tool call whose subagent it is. */
  parent: string | null;
  model: string | null;
  startedAt: number | null;
  endedAt: number | null;
  usage: Usage | null;
  /** Where it begins in the conversation. */
  entryKey: string | null;
}
