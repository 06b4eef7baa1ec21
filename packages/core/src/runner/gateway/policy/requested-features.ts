import {
  betaTable,
  blockTable,
  fieldTable,
  lookUpFeature,
  messageFieldTable,
  quoteValue,
  type RequestedFeature,
  serverToolTable,
  sourceTable,
  toolChangeTable,
  toolTable,
} from "./api-features.ts";

type JsonObject = Record<string, unknown>;
type FeatureTable = Parameters<typeof lookUpFeature>[0];

/**
 * The API features that a message call uses. Parts that are not known to be harmless are included as
 * `unknown`, so that features of later API versions are not let through.
 */
export function* requestedFeatures(body: JsonObject): Generator<RequestedFeature> {
  for (const [name, value] of Object.entries(body)) {
    if (!isEmpty(value)) yield* findFeature(fieldTable, name, "field");
  }
  // defence: no-beta-in-body
  for (const beta of toList(body.anthropic_beta)) yield* betaFeatures(String(beta));
  for (const tool of toList(body.tools)) yield* toolFeatures(tool);
  yield* contentFeatures(body.system);
  for (const message of toList(body.messages)) {
    if (!isJsonObject(message)) {
      yield malformedPart("message");
      continue;
    }
    for (const name of Object.keys(message))
      yield* findFeature(messageFieldTable, name, "message field");
    yield* contentFeatures(message.content);
  }
}

/** The API features that the names in the `anthropic-beta` header enable. */
export function* betaFeatures(header: string): Generator<RequestedFeature> {
  for (const name of header.toLowerCase().split(","))
    yield* findFeature(betaTable, name.trim(), "beta");
}

/** Documents and tool results contain blocks; the API accepts three levels. */
const maxDepth = 8;

function* contentFeatures(content: unknown, depth = 0): Generator<RequestedFeature> {
  if (typeof content === "string" || isEmpty(content)) return;
  if (depth > maxDepth) {
    yield malformedPart("content");
    return;
  }
  for (const block of toList(content)) {
    if (isJsonObject(block)) yield* blockFeatures(block, depth);
    else if (typeof block !== "string") yield malformedPart("content block");
  }
}

function* blockFeatures(block: JsonObject, depth: number): Generator<RequestedFeature> {
  yield* findFeature(blockTable, block.type, "content block");
  if (block.type === "server_tool_use") yield* findFeature(serverToolTable, block.name, "tool use");
  if (block.type === "image" || block.type === "document")
    yield* sourceFeatures(block.source, depth);
  if (block.type === "tool_addition" || block.type === "tool_removal") {
    yield* toolChangeFeatures(block.tool);
  }
  yield* contentFeatures(block.tool_changes, depth + 1);
  // Results of the API's server tools have many shapes and only repeat past calls.
  if (typeof block.type === "string" && !block.type.endsWith("_tool_result")) {
    yield* contentFeatures(block.content, depth + 1);
  }
}

function* sourceFeatures(source: unknown, depth: number): Generator<RequestedFeature> {
  if (!isJsonObject(source)) {
    yield malformedPart("source");
    return;
  }
  yield* findFeature(sourceTable, source.type, "source");
  if (source.type === "content") yield* contentFeatures(source.content, depth + 1);
}

function* toolFeatures(tool: unknown): Generator<RequestedFeature> {
  if (!isJsonObject(tool)) {
    yield malformedPart("tool");
    return;
  }
  if (!isEmpty(tool.type)) yield* findFeature(toolTable, tool.type, "tool");
}

/** Tools can be added during a conversation, with their whole definition. */
function* toolChangeFeatures(change: unknown): Generator<RequestedFeature> {
  if (!isJsonObject(change)) {
    yield malformedPart("tool change");
    return;
  }
  yield* findFeature(toolChangeTable, change.type, "tool change");
  if (!isEmpty(change.definition)) yield* toolFeatures(change.definition);
}

function* findFeature(
  table: FeatureTable,
  name: unknown,
  kind: string,
): Generator<RequestedFeature> {
  const feature = lookUpFeature(table, name);
  if (feature !== "plain") yield { feature, description: `${kind} ${quoteValue(name)}` };
}

function malformedPart(kind: string): RequestedFeature {
  return { feature: "unknown", description: `a malformed ${kind}` };
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): value is null | undefined | [] {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

/** A value that is not a list is treated as its only item. */
function toList(value: unknown): unknown[] {
  if (isEmpty(value)) return [];
  return Array.isArray(value) ? value : [value];
}
