import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import { noTokens, type TokenUsage } from "../../claude/token-usage.ts";
import { type ModelUsage, parseUsage } from "./metering/call-usage.ts";

interface ResponseSummary {
  model?: string;
  usage?: TokenUsage;
  /** The API's `error.type`, such as `overloaded_error`; in a stream it can appear at any time. */
  errorType?: string;
}

/** Extracts model, usage and errors from a response while it is streamed to the client. */
export interface ResponseReader {
  read(chunk: Buffer): void;
  summary(): ResponseSummary;
  /** The usage reported so far, with every field that affects the price. */
  billedUsage(isComplete: boolean): BilledUsage;
}

interface BilledUsage {
  usage: ModelUsage[];
  /** The final count has arrived. */
  isComplete: boolean;
}

export function createResponseReader(headers: IncomingHttpHeaders): ResponseReader {
  const type = headers["content-type"] ?? "";
  if (type.startsWith("text/event-stream")) return new EventStreamReader();
  if (type.startsWith("application/json")) return new JsonBodyReader();
  return {
    read: () => undefined,
    summary: () => ({}),
    billedUsage: () => ({ usage: [], isComplete: false }),
  };
}

const maxEventBytes = 256 * 1024;
const maxBodyBytes = 4 * 1024 * 1024;

const usageEvents: ReadonlySet<string> = new Set(["message_start", "message_delta", "error"]);

/** Reads an event stream line by line and only buffers the events that contain usage or errors. */
class EventStreamReader implements ResponseReader {
  private collected: ResponseSummary = {};
  private readonly accumulator = new UsageAccumulator();
  private event = "";
  private line = "";

  read(chunk: Buffer): void {
    const parts = chunk.toString("latin1").split("\n");
    for (const [index, part] of parts.entries()) {
      if (index > 0) this.endLine();
      if (this.isRelevant(part)) this.line += part;
    }
  }

  summary(): ResponseSummary {
    return this.collected;
  }

  billedUsage(): BilledUsage {
    return this.accumulator.usage();
  }

  private isRelevant(part: string): boolean {
    if (this.line.length + part.length > maxEventBytes) return false;
    if (usageEvents.has(this.event)) return true;
    return this.line.length < "event: message_start".length || this.line.startsWith("event:");
  }

  private endLine(): void {
    const line = this.line.trimEnd();
    this.line = "";
    if (line.startsWith("event:")) this.event = line.slice("event:".length).trim();
    if (!line.startsWith("data:") || !usageEvents.has(this.event)) return;
    const data = line.slice("data:".length);
    this.collected = mergeSummary(this.collected, data);
    this.accumulator.add(data, this.event === "message_delta");
    this.event = "";
  }
}

class JsonBodyReader implements ResponseReader {
  private chunks: Buffer[] = [];
  private size = 0;

  read(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.size <= maxBodyBytes) this.chunks.push(chunk);
    else this.chunks = [];
  }

  summary(): ResponseSummary {
    return mergeSummary({}, this.bodyText());
  }

  /** An incomplete body cannot be parsed. */
  billedUsage(isComplete: boolean): BilledUsage {
    const accumulator = new UsageAccumulator();
    if (isComplete) accumulator.add(this.bodyText(), true);
    return accumulator.usage();
  }

  private bodyText(): string {
    return Buffer.concat(this.chunks).toString("utf8");
  }
}

const usageFieldsSchema = z.record(z.string(), z.unknown()).optional().catch(undefined);

const usageEventSchema = z.object({
  model: z.string().optional().catch(undefined),
  usage: usageFieldsSchema,
  message: z
    .object({ model: z.string().optional().catch(undefined), usage: usageFieldsSchema })
    .optional()
    .catch(undefined),
});

/** Merges the usage objects of a response: later events repeat and complete earlier ones. */
class UsageAccumulator {
  private model: string | undefined;
  private fields: Record<string, unknown> | undefined;
  private isComplete = false;

  add(json: string, isLast: boolean): void {
    const parsed = usageEventSchema.safeParse(parseJson(json)).data;
    if (!parsed) return;
    const counts = { ...parsed.message?.usage, ...parsed.usage };
    const knownEntries = Object.entries(counts).filter(([, value]) => value !== null);
    this.model = parsed.message?.model ?? parsed.model ?? this.model;
    if (parsed.message?.usage || parsed.usage) {
      this.fields = { ...this.fields, ...Object.fromEntries(knownEntries) };
    }
    this.isComplete ||= isLast && parsed.usage !== undefined;
  }

  usage(): BilledUsage {
    const parts = this.fields === undefined ? [] : parseUsage(this.model, this.fields);
    return { usage: parts, isComplete: this.isComplete };
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function mergeSummary(facts: ResponseSummary, json: string): ResponseSummary {
  const response = parseResponse(json);
  if (response === undefined) return facts;
  const counts = { ...response.message?.usage, ...response.usage };
  const usage = { ...noTokens, ...facts.usage, ...definedCounts(counts) };
  return {
    model: response.message?.model ?? response.model ?? facts.model,
    usage: response.message?.usage || response.usage ? usage : facts.usage,
    errorType: response.error?.type ?? facts.errorType,
  };
}

function definedCounts(counts: Partial<Record<keyof TokenUsage, number>>): Partial<TokenUsage> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined));
}

const count = z.number().optional().catch(undefined);

const usageCountsSchema = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
  })
  .optional()
  .catch(undefined);

const modelNameSchema = z.string().optional().catch(undefined);

/** A message, the first or last stream event of a message, or an error. */
const responseSchema = z.object({
  model: modelNameSchema,
  usage: usageCountsSchema,
  message: z
    .object({ model: modelNameSchema, usage: usageCountsSchema })
    .optional()
    .catch(undefined),
  error: z.object({ type: z.string() }).optional().catch(undefined),
});

function parseResponse(json: string): z.infer<typeof responseSchema> | undefined {
  return responseSchema.safeParse(parseJson(json)).data;
}
