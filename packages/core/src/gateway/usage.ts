import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import { type ModelCall, readUsage } from "./metering/call-usage.ts";
import { noTokens, type TokenUsage } from "./token-usage.ts";

interface AnswerFacts {
  model?: string;
  usage?: TokenUsage;
  /** The `error.type` of the API, such as `overloaded_error`; in a stream it may come late. */
  errorType?: string;
}

/** Reads along as an answer passes by and keeps what the meter wants of it, and nothing else. */
export interface AnswerReader {
  read(chunk: Buffer): void;
  facts(): AnswerFacts;
  /** What the answer has told of its tokens, in every detail that has a price. */
  billed(isOver: boolean): BilledUsage;
}

interface BilledUsage {
  parts: ModelCall[];
  /** The last count has come; until then the output grows. */
  isComplete: boolean;
}

export function answerReader(headers: IncomingHttpHeaders): AnswerReader {
  const type = headers["content-type"] ?? "";
  if (type.startsWith("text/event-stream")) return new StreamReader();
  if (type.startsWith("application/json")) return new JsonReader();
  return {
    read: () => undefined,
    facts: () => ({}),
    billed: () => ({ parts: [], isComplete: false }),
  };
}

const longestEvent = 256 * 1024;
const longestBody = 4 * 1024 * 1024;

const tellingEvents: ReadonlySet<string> = new Set(["message_start", "message_delta", "error"]);

/** Of a stream only the few events that tell something are held, one line at a time. */
class StreamReader implements AnswerReader {
  private found: AnswerFacts = {};
  private readonly bill = new Bill();
  private event = "";
  private line = "";

  read(chunk: Buffer): void {
    const parts = chunk.toString("latin1").split("\n");
    for (const [index, part] of parts.entries()) {
      if (index > 0) this.endLine();
      if (this.wants(part)) this.line += part;
    }
  }

  facts(): AnswerFacts {
    return this.found;
  }

  billed(): BilledUsage {
    return this.bill.usage();
  }

  private wants(part: string): boolean {
    if (this.line.length + part.length > longestEvent) return false;
    if (tellingEvents.has(this.event)) return true;
    return this.line.length < "event: message_start".length || this.line.startsWith("event:");
  }

  private endLine(): void {
    const line = this.line.trimEnd();
    this.line = "";
    if (line.startsWith("event:")) this.event = line.slice("event:".length).trim();
    if (!line.startsWith("data:") || !tellingEvents.has(this.event)) return;
    const data = line.slice("data:".length);
    this.found = merge(this.found, data);
    this.bill.add(data, this.event === "message_delta");
    this.event = "";
  }
}

class JsonReader implements AnswerReader {
  private chunks: Buffer[] = [];
  private size = 0;

  read(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.size <= longestBody) this.chunks.push(chunk);
    else this.chunks = [];
  }

  facts(): AnswerFacts {
    return merge({}, this.text());
  }

  /** Half a body cannot be parsed. */
  billed(isOver: boolean): BilledUsage {
    const bill = new Bill();
    if (isOver) bill.add(this.text(), true);
    return bill.usage();
  }

  private text(): string {
    return Buffer.concat(this.chunks).toString("utf8");
  }
}

const usageFields = z.record(z.string(), z.unknown()).optional().catch(undefined);

const billShape = z.object({
  model: z.string().optional().catch(undefined),
  usage: usageFields,
  message: z
    .object({ model: z.string().optional().catch(undefined), usage: usageFields })
    .optional()
    .catch(undefined),
});

/** The usage objects of an answer, merged: later events repeat and complete earlier ones. */
class Bill {
  private model: string | undefined;
  private fields: Record<string, unknown> | undefined;
  private isComplete = false;

  add(json: string, isLast: boolean): void {
    const read = billShape.safeParse(parseJson(json)).data;
    if (!read) return;
    const told = { ...read.message?.usage, ...read.usage };
    const known = Object.entries(told).filter(([, value]) => value !== null);
    this.model = read.message?.model ?? read.model ?? this.model;
    if (read.message?.usage || read.usage) {
      this.fields = { ...this.fields, ...Object.fromEntries(known) };
    }
    this.isComplete ||= isLast && read.usage !== undefined;
  }

  usage(): BilledUsage {
    const parts = this.fields === undefined ? [] : readUsage(this.model, this.fields);
    return { parts, isComplete: this.isComplete };
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function merge(facts: AnswerFacts, json: string): AnswerFacts {
  const answer = readAnswer(json);
  if (answer === undefined) return facts;
  const counts = { ...answer.message?.usage, ...answer.usage };
  const usage = { ...noTokens, ...facts.usage, ...definedCounts(counts) };
  return {
    model: answer.message?.model ?? answer.model ?? facts.model,
    usage: answer.message?.usage || answer.usage ? usage : facts.usage,
    errorType: answer.error?.type ?? facts.errorType,
  };
}

function definedCounts(counts: Partial<Record<keyof TokenUsage, number>>): Partial<TokenUsage> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined));
}

const count = z.number().optional().catch(undefined);

const usageCounts = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
  })
  .optional()
  .catch(undefined);

const modelName = z.string().optional().catch(undefined);

/** A message, or the stream events that begin and close one, or an error. */
const answerShape = z.object({
  model: modelName,
  usage: usageCounts,
  message: z.object({ model: modelName, usage: usageCounts }).optional().catch(undefined),
  error: z.object({ type: z.string() }).optional().catch(undefined),
});

function readAnswer(json: string): z.infer<typeof answerShape> | undefined {
  return answerShape.safeParse(parseJson(json)).data;
}
