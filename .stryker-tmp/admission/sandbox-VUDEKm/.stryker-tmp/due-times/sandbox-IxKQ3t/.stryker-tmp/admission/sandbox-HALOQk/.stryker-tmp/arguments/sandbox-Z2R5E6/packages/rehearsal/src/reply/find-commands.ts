import { z } from "zod";
import { parseJson } from "../parse-json.ts";

export type Command =
  | { kind: "call"; name: string; input: Record<string, unknown> }
  | { kind: "say"; text: string }
  | { kind: "unreadable"; text: string };

/**
 * Finds the commands in a text. `OBEY:` may be anywhere in a line, after line numbers or quotation
 * marks. Consecutive lines form a block, whose calls are made in parallel.
 */
export function findCommands(text: string): Command[][] {
  const blocks: Command[][] = [];
  let currentBlock: Command[] | undefined;
  for (const line of text.split("\n")) {
    const [, commandText] = /\bOBEY:\s*(.+)$/.exec(line) ?? [];
    if (commandText === undefined) {
      currentBlock = undefined;
      continue;
    }
    if (!currentBlock) {
      currentBlock = [];
      blocks.push(currentBlock);
    }
    currentBlock.push(readCommand(commandText.trim()));
  }
  return blocks;
}

const inputSchema = z.record(z.string(), z.unknown());

function readCommand(commandText: string): Command {
  const [, sayText] = /^say\s+(.+)$/.exec(commandText) ?? [];
  if (sayText !== undefined) return { kind: "say", text: sayText };
  const [, name, rest] = /^([\w-]+)\s*(\{.*)$/.exec(commandText) ?? [];
  if (name === undefined || rest === undefined) return { kind: "unreadable", text: commandText };
  const input = inputSchema.safeParse(parseJson(extractLeadingObject(rest)));
  return input.success
    ? { kind: "call", name, input: input.data }
    : { kind: "unreadable", text: commandText };
}

/** The JSON object at the start of a text, without trailing text such as the end of a comment. */
function extractLeadingObject(text: string): string {
  let depth = 0;
  let isQuoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index];
    if (isQuoted && char === "\\") index += 1;
    else if (char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && char === "{") depth += 1;
    else if (!isQuoted && char === "}") depth -= 1;
    if (depth === 0) return text.slice(0, index + 1);
  }
  return text;
}
