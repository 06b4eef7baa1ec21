import type { Entry, MarkerEntry, ModelTextEntry, ToolEntry, Turn } from "./entry.ts";
import { toTextOrNull, type UnknownFields } from "./unknown-fields.ts";

/** The state of one agent: the main agent, or the subagent of a tool call. */
export interface AgentThread {
  /** Time of the last message. The next model request starts here. */
  lastActivityAt: number | null;
  turn: Turn | null;
  messageId: string | null;
  /** Blocks that are still streaming, by index in the message. */
  streamingBlocks: Map<number, ModelTextEntry | ToolEntry>;
}

/**
 * The transcript of a job, built message by message with `applyOutputLine`. It is mutated in place,
 * because copying a log of 50,000 messages for each message is too slow; `revision` counts changes.
 */
export class Transcript {
  readonly entries: Entry[] = [];
  readonly turns: Turn[] = [];
  readonly tools = new Map<string, ToolEntry>();
  readonly tasks = new Map<string, ToolEntry>();
  readonly threads = new Map<string | null, AgentThread>();
  /** The offset of each line in the log. */
  readonly offsets: number[] = [];
  sessionId: string | null = null;
  model: string | null = null;
  cwd: string | null = null;
  /** The session's total cost at its last result; null before the first. */
  totalUsd: number | null = null;
  revision = 0;
  /** Increases only when entries are added. */
  structureRevision = 0;
  /** The end of the last line that was applied. */
  offset = 0;

  thread(parent: string | null): AgentThread {
    const existing = this.threads.get(parent);
    if (existing) return existing;
    const last = (parent !== null && this.tools.get(parent)?.at) || null;
    const thread: AgentThread = {
      lastActivityAt: last,
      turn: null,
      messageId: null,
      streamingBlocks: new Map(),
    };
    this.threads.set(parent, thread);
    return thread;
  }

  /** Adds an entry to the main agent or to the subagent of a tool call. */
  addEntry<E extends Entry>(parent: string | null, entry: E): E {
    const parentTool = parent === null ? undefined : this.tools.get(parent);
    (parentTool?.children ?? this.entries).push(entry);
    this.structureRevision += 1;
    for (let ancestor = parentTool; ancestor; ancestor = this.parentToolOf(ancestor))
      ancestor.descendants += 1;
    return entry;
  }

  addMarker(
    line: Line,
    parent: string | null,
    marker: Partial<MarkerEntry> & Pick<MarkerEntry, "marker" | "text">,
  ): void {
    const fields = { kind: "marker" as const, isError: false, retryDelayMs: null, ...marker };
    this.addEntry(parent, { ...this.baseFields(line, `m${line.start}`), ...fields });
  }

  baseFields({ start, at }: Line, key: string) {
    return { key, at, offset: start, revision: 0, uuid: null, turn: null };
  }

  private parentToolOf(tool: ToolEntry): ToolEntry | undefined {
    const parent = tool.turn?.parent ?? null;
    return parent === null ? undefined : this.tools.get(parent);
  }
}

/** The offset and time of a line. */
export interface Line {
  start: number;
  at: number | null;
}

export type MessageHandler = (transcript: Transcript, message: UnknownFields, line: Line) => void;

export function parentToolId(message: UnknownFields): string | null {
  return toTextOrNull(message.parent_tool_use_id);
}
