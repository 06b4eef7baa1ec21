import type { SaidEntry, ToolEntry, Turn, Usage } from "./entry.ts";
import { type Fields, fieldsOf, listOf, numberOf, textOf, textOrNull } from "./fields.ts";
import { type Fold, type Lane, type Line, parentOf, type Story } from "./story.ts";
import { takeResult } from "./story-heard.ts";

/** A message of the model: whole blocks, each of which may have been seen growing before. */
export const say: Fold = (story, message, line) => {
  const parent = parentOf(message);
  const lane = story.lane(parent);
  const said = fieldsOf(message.message);
  const turn = turnOf(story, lane, parent, said, line);
  const usage = usageOf(said.usage);
  if (turn.usage === null && usage !== null) turn.usage = { ...usage, output: null };
  listOf(said.content).forEach((block, at) => {
    const entry = take(story, { lane, parent, turn, line, block, at });
    if (entry) entry.uuid = textOrNull(message.uuid);
  });
  lane.last = line.at ?? lane.last;
  turn.endedAt = line.at ?? turn.endedAt;
  turn.revision += 1;
};

/** The turn that this message belongs to; a new one where its id is new. */
export function turnOf(
  story: Story,
  lane: Lane,
  parent: string | null,
  { id, model }: Fields,
  line: Line,
): Turn {
  const messageId = textOrNull(id);
  if (lane.turn && lane.messageId === messageId) return lane.turn;
  dropOpen(lane);
  const number = (lane.turn?.number ?? 0) + 1;
  const startedAt = lane.last ?? line.at;
  lane.turn = {
    key: `t${line.start}`,
    revision: 0,
    number,
    parent,
    model: textOrNull(model),
    startedAt,
    endedAt: line.at,
    usage: null,
    entryKey: null,
  };
  lane.messageId = messageId;
  story.turns.push(lane.turn);
  return lane.turn;
}

/** The stream broke off: what was being said stays as far as it came. */
function dropOpen(lane: Lane): void {
  for (const entry of lane.open.values()) {
    entry.isOpen = false;
    entry.revision += 1;
  }
  lane.open.clear();
}

interface Taken {
  lane: Lane;
  parent: string | null;
  turn: Turn;
  line: Line;
  block: Fields;
  at: number;
}

function take(story: Story, taken: Taken): SaidEntry | ToolEntry | undefined {
  const { block } = taken;
  const kind = textOf(block.type);
  if (kind === "text") return takeSaid(story, taken, "text", textOf(block.text));
  if (kind === "thinking") return takeSaid(story, taken, "thinking", textOf(block.thinking));
  if (kind.endsWith("tool_use")) return takeTool(story, taken);
  if (block.tool_use_id !== undefined) takeResult(story, block, taken.line, {});
  return undefined;
}

function takeSaid(
  story: Story,
  { lane, parent, turn, line, at }: Taken,
  kind: SaidEntry["kind"],
  text: string,
): SaidEntry | undefined {
  const open = closeOpen(lane, kind);
  if (!open && text === "") return undefined;
  const key = `s${line.start}.${at}`;
  const entry = open ?? placeSaid(story, { parent, turn, line, kind, key });
  if (entry.kind === "tool") return undefined;
  entry.text = text;
  entry.at = line.at ?? entry.at;
  return entry;
}

export function placeSaid(
  story: Story,
  { parent, turn, line, kind, key }: Placed & { kind: SaidEntry["kind"] },
): SaidEntry {
  turn.entryKey ??= key;
  const more = { kind, text: "", isOpen: false, turn };
  return story.place(parent, { ...story.common(line, key), ...more });
}

export interface Placed {
  parent: string | null;
  turn: Turn;
  line: Line;
  key: string;
}

function takeTool(story: Story, { lane, parent, turn, line, block }: Taken): ToolEntry | undefined {
  const id = textOf(block.id);
  closeOpen(lane, "tool");
  const known = story.tools.get(id);
  const entry = known ?? placeTool(story, { parent, turn, line, key: id }, block);
  entry.input = fieldsOf(block.input);
  entry.at = line.at ?? entry.at;
  entry.revision += 1;
  return entry;
}

export function placeTool(
  story: Story,
  { parent, turn, line, key }: Placed,
  block: Fields,
): ToolEntry {
  turn.entryKey ??= key;
  const entry: ToolEntry = {
    ...story.common(line, key),
    kind: "tool",
    id: key,
    tool: textOf(block.name),
    input: {},
    isOpen: false,
    endedAt: null,
    result: null,
    task: null,
    denied: null,
    children: [],
    descendants: 0,
    turn,
  };
  story.tools.set(key, entry);
  return story.place(parent, entry);
}

/** Blocks become whole in the order in which they were begun. */
function closeOpen(
  lane: Lane,
  kind: "text" | "thinking" | "tool",
): SaidEntry | ToolEntry | undefined {
  for (const [index, entry] of lane.open) {
    if (entry.kind !== kind) continue;
    lane.open.delete(index);
    entry.isOpen = false;
    entry.revision += 1;
    return entry;
  }
  return undefined;
}

export function usageOf(value: unknown): Usage | null {
  const usage = fieldsOf(value);
  const input = numberOf(usage.input_tokens);
  if (input === null) return null;
  return {
    input,
    output: numberOf(usage.output_tokens),
    cacheRead: numberOf(usage.cache_read_input_tokens) ?? 0,
    cacheWrite: numberOf(usage.cache_creation_input_tokens) ?? 0,
  };
}
