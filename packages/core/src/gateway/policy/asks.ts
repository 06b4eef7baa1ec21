import {
  betaTable,
  blockTable,
  fieldTable,
  meaningOf,
  messageFieldTable,
  serverToolTable,
  sourceTable,
  toolChangeTable,
  toolTable,
} from "./known-parts.ts";
import { type Ask, quote } from "./reach.ts";

type Fields = Record<string, unknown>;
type Table = Parameters<typeof meaningOf>[0];

/**
 * All that a message call asks of the API beyond an answer. Whatever is not known to be harmless
 * is told too: a part that a later API understands must not slip through.
 */
export function* asksOf(body: Fields): Generator<Ask> {
  for (const [name, value] of Object.entries(body)) {
    if (!isNothing(value)) yield* look(fieldTable, name, "field");
  }
  for (const tool of listOf(body.tools)) yield* toolAsks(tool);
  yield* contentAsks(body.system);
  for (const message of listOf(body.messages)) {
    if (!isFields(message)) {
      yield misshapen("message");
      continue;
    }
    for (const name of Object.keys(message)) yield* look(messageFieldTable, name, "message field");
    yield* contentAsks(message.content);
  }
}

/** What the names in the `anthropic-beta` header switch on. */
export function* betaAsks(header: string): Generator<Ask> {
  for (const name of header.toLowerCase().split(",")) yield* look(betaTable, name.trim(), "beta");
}

/** Documents and tool results hold blocks themselves; the API takes three levels. */
const deepest = 8;

function* contentAsks(content: unknown, depth = 0): Generator<Ask> {
  if (typeof content === "string" || isNothing(content)) return;
  if (depth > deepest) {
    yield misshapen("content");
    return;
  }
  for (const block of listOf(content)) {
    if (isFields(block)) yield* blockAsks(block, depth);
    else if (typeof block !== "string") yield misshapen("content block");
  }
}

function* blockAsks(block: Fields, depth: number): Generator<Ask> {
  yield* look(blockTable, block.type, "content block");
  if (block.type === "server_tool_use") yield* look(serverToolTable, block.name, "tool use");
  if (block.type === "image" || block.type === "document") yield* sourceAsks(block.source, depth);
  if (block.type === "tool_addition" || block.type === "tool_removal") {
    yield* toolChangeAsks(block.tool);
  }
  yield* contentAsks(block.tool_changes, depth + 1);
  // The results of the API's own tools are objects of many shapes, and echo what has happened.
  if (typeof block.type === "string" && !block.type.endsWith("_tool_result")) {
    yield* contentAsks(block.content, depth + 1);
  }
}

function* sourceAsks(source: unknown, depth: number): Generator<Ask> {
  if (!isFields(source)) {
    yield misshapen("source");
    return;
  }
  yield* look(sourceTable, source.type, "source");
  if (source.type === "content") yield* contentAsks(source.content, depth + 1);
}

function* toolAsks(tool: unknown): Generator<Ask> {
  if (!isFields(tool)) {
    yield misshapen("tool");
    return;
  }
  if (!isNothing(tool.type)) yield* look(toolTable, tool.type, "tool");
}

/** Tools may come in the middle of a conversation, with their whole definition. */
function* toolChangeAsks(change: unknown): Generator<Ask> {
  if (!isFields(change)) {
    yield misshapen("tool change");
    return;
  }
  yield* look(toolChangeTable, change.type, "tool change");
  if (!isNothing(change.definition)) yield* toolAsks(change.definition);
}

function* look(table: Table, name: unknown, kind: string): Generator<Ask> {
  const reach = meaningOf(table, name);
  if (reach !== "plain") yield { reach, what: `${kind} ${quote(name)}` };
}

function misshapen(kind: string): Ask {
  return { reach: "unknown", what: `a ${kind} that has not the form of one` };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isNothing(value: unknown): value is null | undefined | [] {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

/** Where a list belongs, anything else is looked at as its only item. */
function listOf(value: unknown): unknown[] {
  if (isNothing(value)) return [];
  return Array.isArray(value) ? value : [value];
}
