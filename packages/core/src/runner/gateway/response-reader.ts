import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import { noTokens, type TokenUsage } from "../../claude/token-usage.ts";
import { type AwsFrame, AwsFrameDecoder, awsEventData } from "./aws-event-stream.ts";
import { type ModelUsage, parseUsage } from "./metering/call-usage.ts";

interface ResponseSummary {
  model?: string;
  usage?: TokenUsage;
  /** The API's `error.type`, such as `overloaded_error`; in a stream it can appear at any time. */
  errorType?: string;
  errorMessage?: string;
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
  if (type.startsWith("application/vnd.amazon.eventstream")) return new AwsStreamReader();
  if (/^application\/(x-amz-)?json/.test(type)) return new JsonBodyReader(headers);
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

/** Reads Bedrock's binary stream, whose frames contain the same events. */
class AwsStreamReader implements ResponseReader {
  private collected: ResponseSummary = {};
  private readonly accumulator = new UsageAccumulator();
  private readonly decoder = new AwsFrameDecoder();

  read(chunk: Buffer): void {
    for (const frame of this.decoder.read(chunk)) this.readFrame(frame);
  }

  summary(): ResponseSummary {
    return this.collected;
  }

  billedUsage(): BilledUsage {
    return this.accumulator.usage();
  }

  private readFrame({ headers, payload }: AwsFrame): void {
    const exception = headers.get(":exception-type");
    if (exception !== undefined) {
      const { errorMessage } = mergeSummary({}, payload.toString());
      this.collected = { ...this.collected, errorType: exception, errorMessage };
      return;
    }
    const data = awsEventData(payload);
    const type = eventTypeSchema.safeParse(parseJson(data)).data?.type;
    if (type === undefined || !usageEvents.has(type)) return;
    this.collected = mergeSummary(this.collected, data);
    this.accumulator.add(data, type === "message_delta");
  }
}

const eventTypeSchema = z.object({ type: z.string() });

class JsonBodyReader implements ResponseReader {
  private chunks: Buffer[] = [];
  private size = 0;

  constructor(private readonly headers: IncomingHttpHeaders) {}

  read(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.size <= maxBodyBytes) this.chunks.push(chunk);
    else this.chunks = [];
  }

  summary(): ResponseSummary {
    const awsType = this.headers["x-amzn-errortype"];
    const summary = mergeSummary({}, this.bodyText());
    return typeof awsType === "string" ? { ...summary, errorType: awsType.split(":")[0] } : summary;
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

const maxErrorLength = 300;

function mergeSummary(facts: ResponseSummary, json: string): ResponseSummary {
  const response = parseResponse(json);
  if (response === undefined) return facts;
  const counts = { ...response.message?.usage, ...response.usage };
  const usage = { ...noTokens, ...facts.usage, ...definedCounts(counts) };
  return {
    model: response.message?.model ?? response.model ?? facts.model,
    usage: response.message?.usage || response.usage ? usage : facts.usage,
    errorType: response.error?.type ?? response.error?.status ?? facts.errorType,
    errorMessage: (response.error?.message ?? response.message?.text ?? facts.errorMessage)?.slice(
      0,
      maxErrorLength,
    ),
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

const optionalText = z.string().optional().catch(undefined);

const modelNameSchema = z.string().optional().catch(undefined);

/** A message, the first or last stream event of a message, or an error. */
const responseSchema = z.object({
  model: modelNameSchema,
  usage: usageCountsSchema,
  message: z
    .union([
      // AWS sends the text of an error in `message`.
      z.string().transform((text) => ({ text, model: undefined, usage: undefined })),
      z
        .object({ model: modelNameSchema, usage: usageCountsSchema })
        .transform((message) => ({ ...message, text: undefined })),
    ])
    .optional()
    .catch(undefined),
  error: z
    .object({ type: optionalText, status: optionalText, message: optionalText })
    .optional()
    .catch(undefined),
});

function parseResponse(json: string): z.infer<typeof responseSchema> | undefined {
  return responseSchema.safeParse(parseJson(json)).data;
}

/** A rate limit reported by a response. Times are milliseconds since the epoch. */
export interface RateLimit {
  status: number;
  at: number;
  retryAfterMs?: number;
  resetsAt?: number;
  /** Only for subscriptions: `allowed`, `allowed_warning` or `rejected`. */
  unifiedStatus?: string;
  /** The subscription window that was exceeded, such as `five_hour`. */
  claim?: string;
}

/** Reads a rejection because of load or limits; undefined for any other response. */
export function readRateLimit(
  status: number,
  headers: IncomingHttpHeaders,
  now: number,
): RateLimit | undefined {
  if (!rateLimitStatuses.has(status)) return undefined;
  return {
    status,
    at: now,
    retryAfterMs: parseRetryAfterMs(headers, now),
    resetsAt: resetsAt(headers, now),
    unifiedStatus: readHeader(headers, "anthropic-ratelimit-unified-status"),
    claim: readHeader(headers, "anthropic-ratelimit-unified-representative-claim"),
  };
}

const rateLimitStatuses = new Set([429, 503, 529]);
const rateLimitBuckets = ["requests", "tokens", "input-tokens", "output-tokens"];

/**
 * When a request may succeed again: the subscription's reset if there is one, otherwise the latest of
 * `retry-after` and the resets of exhausted buckets.
 */
export function resetsAt(headers: IncomingHttpHeaders, now: number): number | undefined {
  const unified = readTimeHeader(headers, "anthropic-ratelimit-unified-reset");
  const rejected = readHeader(headers, "anthropic-ratelimit-unified-status") === "rejected";
  if (rejected && unified !== undefined) return unified;

  const waitMs = parseRetryAfterMs(headers, now);
  const known = rateLimitBuckets
    .filter((bucket) => readHeader(headers, `anthropic-ratelimit-${bucket}-remaining`) === "0")
    .map((bucket) => readTimeHeader(headers, `anthropic-ratelimit-${bucket}-reset`))
    .concat(waitMs === undefined ? [] : now + waitMs)
    .filter((moment) => moment !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function parseRetryAfterMs(headers: IncomingHttpHeaders, now: number): number | undefined {
  const value = readHeader(headers, "retry-after");
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const moment = Date.parse(value);
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - now);
}

/** Buckets use RFC 3339 times, subscriptions use seconds since the epoch. */
function readTimeHeader(headers: IncomingHttpHeaders, name: string): number | undefined {
  const value = readHeader(headers, name);
  if (value === undefined) return undefined;
  const moment = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value);
  return Number.isNaN(moment) ? undefined : moment;
}

function readHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}
