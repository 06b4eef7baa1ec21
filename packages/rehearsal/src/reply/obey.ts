import { type Block, resultText, textsOf } from "../request/body.ts";
import type { ModelRequest } from "../request/model-request.ts";
import { type Command, findCommands } from "./commands.ts";
import { type Reply, toolUseId } from "./message.ts";

type CallCommand = Extract<Command, { kind: "call" }>;

/**
 * The model that does whatever the text it reads tells it to do. Which commands were carried out
 * already is told from the ids of the tool calls in the conversation.
 */
export function obey(request: ModelRequest): Reply {
  const { sincePrompt } = request.conversation;
  const blocks = readingOrder(request).flatMap(findCommands);
  const done = new Set(sincePrompt.filter((block) => block.type === "tool_use").map(idOf));
  for (const block of blocks) {
    const calls = block.filter((command) => command.kind === "call");
    const due = new Map(calls.map((call) => [commandId(call, request), call]));
    for (const id of done) due.delete(id);
    if (due.size > 0)
      return { tools: [...due].map(([id, { name, input }]) => ({ id, name, input })) };
  }
  return report(blocks.flat(), sincePrompt);
}

/** Everything a model reads: instructions, tool descriptions, then what came since the prompt. */
function readingOrder({ body, conversation }: ModelRequest): string[] {
  const tools = (body.tools ?? []).map((tool) => tool.description ?? "");
  const said = conversation.sincePrompt.filter((block) => block.type !== "tool_use");
  return [conversation.system, ...tools, ...textsOf(said)];
}

function idOf(block: Block): string {
  return block.id ?? "";
}

/** The same command counts once per prompt, so a file that tells to read itself ends. */
function commandId(call: CallCommand, { agentId, conversation }: ModelRequest): string {
  const { promptNumber } = conversation.now;
  return toolUseId("obey", agentId ?? "", promptNumber, call.name, JSON.stringify(call.input));
}

function report(commands: Command[], sincePrompt: Block[]): string {
  const says = commands.filter((command) => command.kind === "say").map(({ text }) => text);
  const unread = commands.filter((command) => command.kind === "unreadable");
  const names = new Map(sincePrompt.map((block) => [block.id ?? "", block.name ?? ""]));
  const results = sincePrompt.filter((block) => block.type === "tool_result");
  const lines = [
    ...new Set(says),
    ...results.map((result) => `${names.get(result.tool_use_id ?? "")}: ${resultText(result)}`),
    ...unread.map(({ text }) => `Not understood: ${text}`),
  ];
  return lines.length > 0 ? lines.join("\n") : "Nothing to obey.";
}
