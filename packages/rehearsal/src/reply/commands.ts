import { z } from "zod";
import { parseJson } from "../parse-json.ts";

export type Command =
  | { kind: "call"; name: string; input: Record<string, unknown> }
  | { kind: "say"; text: string }
  | { kind: "unreadable"; text: string };

/**
 * The commands in a text. `OBEY:` may stand anywhere in a line, behind line numbers or quoting.
 * Lines that follow each other directly form one block; its calls are made at once.
 */
export function findCommands(text: string): Command[][] {
  const blocks: Command[][] = [];
  let open: Command[] | undefined;
  for (const line of text.split("\n")) {
    const [, order] = /\bOBEY:\s*(.+)$/.exec(line) ?? [];
    if (order === undefined) {
      open = undefined;
      continue;
    }
    if (!open) {
      open = [];
      blocks.push(open);
    }
    open.push(readCommand(order.trim()));
  }
  return blocks;
}

const inputSchema = z.record(z.string(), z.unknown());

function readCommand(order: string): Command {
  const [, speech] = /^say\s+(.+)$/.exec(order) ?? [];
  if (speech !== undefined) return { kind: "say", text: speech };
  const [, name, rest] = /^([\w-]+)\s*(\{.*)$/.exec(order) ?? [];
  if (name === undefined || rest === undefined) return { kind: "unreadable", text: order };
  const input = inputSchema.safeParse(parseJson(leadingObject(rest)));
  return input.success
    ? { kind: "call", name, input: input.data }
    : { kind: "unreadable", text: order };
}

/** The JSON object at the start, without what follows it, such as the end of a comment. */
function leadingObject(text: string): string {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (quoted && sign === "\\") at += 1;
    else if (sign === '"') quoted = !quoted;
    else if (!quoted && sign === "{") depth += 1;
    else if (!quoted && sign === "}") depth -= 1;
    if (depth === 0) return text.slice(0, at + 1);
  }
  return text;
}
