import { type Fields, fieldsOf, numberOf, textOf } from "./fields.ts";
import { type Fold, type Lane, type Line, parentOf, type Story } from "./story.ts";
import { placeSaid, placeTool, turnOf, usageOf } from "./story-said.ts";

/** A piece of what the model is saying; the whole follows as a message of its own. */
export const piece: Fold = (story, message, line) => {
  const parent = parentOf(message);
  const event = fieldsOf(message.event);
  pieces[textOf(event.type)]?.(story, { parent, lane: story.lane(parent), event, line });
};

interface Piece {
  parent: string | null;
  lane: Lane;
  event: Fields;
  line: Line;
}

const pieces: Record<string, (story: Story, piece: Piece) => void> = {
  message_start: (story, { parent, lane, event, line }) => {
    turnOf(story, lane, parent, fieldsOf(event.message), line);
  },
  content_block_start: (story, { parent, lane, event, line }) => {
    const block = fieldsOf(event.content_block);
    const index = numberOf(event.index) ?? 0;
    const { turn } = lane;
    if (!turn) return;
    const placed = { parent, turn, line, key: `p${line.start}` };
    const begun = begin(story, placed, block);
    if (!begun) return;
    begun.isOpen = true;
    lane.open.set(index, begun);
  },
  content_block_delta: (_story, { lane, event }) => {
    const entry = lane.open.get(numberOf(event.index) ?? 0);
    const delta = fieldsOf(event.delta);
    const more = textOf(delta.text ?? delta.thinking);
    if (!entry || entry.kind === "tool" || more === "") return;
    entry.text += more;
    entry.revision += 1;
  },
  message_delta: (_story, { lane, event }) => {
    const usage = usageOf(event.usage);
    if (!lane.turn || !usage) return;
    lane.turn.usage = usage;
    lane.turn.revision += 1;
  },
};

function begin(story: Story, placed: Parameters<typeof placeTool>[1], block: Fields) {
  const kind = textOf(block.type);
  if (kind === "text" || kind === "thinking") return placeSaid(story, { ...placed, kind });
  if (!kind.endsWith("tool_use")) return undefined;
  const id = textOf(block.id);
  return story.tools.get(id) ?? placeTool(story, { ...placed, key: id }, block);
}
