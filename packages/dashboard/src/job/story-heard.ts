import { type Fields, fieldsOf, listOf, textOf, textOrNull } from "./fields.ts";
import { type Fold, type Line, parentOf, type Story } from "./story.ts";
import { resultOf } from "./tool-result.ts";

/** What the agent is told: results of its tools, and words of whoever set it to work. */
export const hear: Fold = (story, message, line) => {
  const parent = parentOf(message);
  const { content } = fieldsOf(message.message);
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
  blocks.forEach((block, at) => {
    if (block.tool_use_id !== undefined) takeResult(story, block, line, message);
    else takeWords(story, { parent, line, at, text: textOf(block.text), message });
  });
  const lane = story.lane(parent);
  lane.last = line.at ?? lane.last;
};

export function takeResult(story: Story, block: Fields, line: Line, message: Fields): void {
  const tool = story.tools.get(textOf(block.tool_use_id));
  if (!tool) return;
  tool.result = resultOf(tool, block, message);
  tool.isOpen = false;
  tool.revision += 1;
  // What goes on in the background ends when its task does.
  if (!tool.task?.isBackground || tool.task.status !== "running") tool.endedAt = line.at;
}

interface Words {
  parent: string | null;
  line: Line;
  at: number;
  text: string;
  message: Fields;
}

function takeWords(story: Story, { parent, line, at, text, message }: Words): void {
  const owner = parent === null ? undefined : story.tools.get(parent);
  // A subagent is told what stands in the call already.
  if (text === "" || text === owner?.input.prompt) return;
  const entry = { ...story.common(line, `h${line.start}.${at}`), kind: "heard" as const, text };
  story.place(parent, { ...entry, uuid: textOrNull(message.uuid) });
}
