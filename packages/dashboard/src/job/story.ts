import type { Entry, MarkerEntry, SaidEntry, ToolEntry, Turn } from "./entry.ts";
import { type Fields, textOrNull } from "./fields.ts";

/** Where one agent speaks: the main one, or the subagent of a tool call. */
export interface Lane {
  /** The last sign of it: what the model is asked next begins here. */
  last: number | null;
  turn: Turn | null;
  messageId: string | null;
  /** What the model is saying now, by its place in the message. */
  open: Map<number, SaidEntry | ToolEntry>;
}

/**
 * What the output of a job tells, message by message as it comes (`tell`). It is changed in place:
 * a log of fifty thousand messages would be copied as often otherwise. `revision` says that it did.
 */
export class Story {
  readonly entries: Entry[] = [];
  readonly turns: Turn[] = [];
  readonly tools = new Map<string, ToolEntry>();
  readonly tasks = new Map<string, ToolEntry>();
  readonly lanes = new Map<string | null, Lane>();
  /** Where each line begins. */
  readonly offsets: number[] = [];
  sessionId: string | null = null;
  model: string | null = null;
  cwd: string | null = null;
  /** What the session had cost at its last result. */
  totalUsd = 0;
  revision = 0;
  /** Goes up only when there are more entries or fewer. */
  shape = 0;
  /** How far the log has been read. */
  offset = 0;

  lane(parent: string | null): Lane {
    const known = this.lanes.get(parent);
    if (known) return known;
    const last = (parent !== null && this.tools.get(parent)?.at) || null;
    const lane: Lane = { last, turn: null, messageId: null, open: new Map() };
    this.lanes.set(parent, lane);
    return lane;
  }

  /** Puts an entry where its agent speaks. */
  place<E extends Entry>(parent: string | null, entry: E): E {
    const owner = parent === null ? undefined : this.tools.get(parent);
    (owner?.children ?? this.entries).push(entry);
    this.shape += 1;
    for (let above = owner; above; above = this.ownerOf(above)) above.descendants += 1;
    return entry;
  }

  mark(
    given: Line,
    parent: string | null,
    marker: Partial<MarkerEntry> & Pick<MarkerEntry, "marker" | "text">,
  ): void {
    const more = { kind: "marker" as const, isError: false, lastsMs: null, ...marker };
    this.place(parent, { ...this.common(given, `m${given.start}`), ...more });
  }

  common({ start, at }: Line, key: string) {
    return { key, at, offset: start, revision: 0, uuid: null, turn: null };
  }

  private ownerOf(tool: ToolEntry): ToolEntry | undefined {
    const parent = tool.turn?.parent ?? null;
    return parent === null ? undefined : this.tools.get(parent);
  }
}

/** Where a line begins, and when it was written. */
export interface Line {
  start: number;
  at: number | null;
}

export type Fold = (story: Story, message: Fields, line: Line) => void;

export function parentOf(message: Fields): string | null {
  return textOrNull(message.parent_tool_use_id);
}
