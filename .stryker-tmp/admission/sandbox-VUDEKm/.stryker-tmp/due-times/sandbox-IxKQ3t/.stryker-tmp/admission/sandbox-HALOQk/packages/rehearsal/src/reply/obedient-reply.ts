import type { ModelRequest } from "../request/model-request.ts";
import { type Block, extractTexts, toolResultText } from "../request/request-body.ts";
import { createToolUseId, type Reply } from "./api-message.ts";
import { type Command, findCommands } from "./find-commands.ts";

type CallCommand = Extract<Command, { kind: "call" }>;

/**
 * A model that follows every instruction in the text it reads. The ids of the tool calls in the
 * conversation show which commands have already run.
 */
export function obedientReply(request: ModelRequest): Reply {
  const { sincePrompt } = request.conversation;
  const blocks = textsInReadingOrder(request).flatMap(findCommands);
  const doneIds = new Set(sincePrompt.filter((block) => block.type === "tool_use").map(idOf));
  for (const block of blocks) {
    const calls = block.filter((command) => command.kind === "call");
    const pendingCalls = new Map(calls.map((call) => [commandId(call, request), call]));
    for (const id of doneIds) pendingCalls.delete(id);
    if (pendingCalls.size > 0)
      return { tools: [...pendingCalls].map(([id, { name, input }]) => ({ id, name, input })) };
  }
  return reportResults(blocks.flat(), sincePrompt);
}

/** All text a model reads: instructions, tool descriptions, and everything since the prompt. */
function textsInReadingOrder({ body, conversation }: ModelRequest): string[] {
  const tools = (body.tools ?? []).map((tool) => tool.description ?? "");
  const inputBlocks = conversation.sincePrompt.filter((block) => block.type !== "tool_use");
  return [conversation.system, ...tools, ...extractTexts(inputBlocks)];
}

function idOf(block: Block): string {
  return block.id ?? "";
}

/** The same command runs once per prompt, so that a file with a command to read itself does not loop. */
function commandId(call: CallCommand, { agentId, conversation }: ModelRequest): string {
  const { promptNumber } = conversation.currentCall;
  return createToolUseId(
    "obey",
    agentId ?? "",
    promptNumber,
    call.name,
    JSON.stringify(call.input),
  );
}

function reportResults(commands: Command[], sincePrompt: Block[]): string {
  const sayTexts = commands.filter((command) => command.kind === "say").map(({ text }) => text);
  const unreadable = commands.filter((command) => command.kind === "unreadable");
  const names = new Map(sincePrompt.map((block) => [block.id ?? "", block.name ?? ""]));
  const results = sincePrompt.filter((block) => block.type === "tool_result");
  const lines = [
    ...new Set(sayTexts),
    ...results.map((result) => `${names.get(result.tool_use_id ?? "")}: ${toolResultText(result)}`),
    ...unreadable.map(({ text }) => `Not understood: ${text}`),
  ];
  return lines.length > 0 ? lines.join("\n") : "Nothing to obey.";
}
