import { parseBody } from "../policy/parse-body.ts";
import { type ModelCall, noUsage } from "./call-usage.ts";

/** What is known of a message call before it is answered. */
export interface CallRequest {
  model?: string;
  isStream: boolean;
  inputTokens: number;
  maxOutputTokens: number;
  fast: boolean;
  us_only: boolean;
}

const bytesPerToken = 4;
/** The API scales larger images down to about this. */
const tokensPerImage = 5_000;
const base64BytesPerDocumentToken = 10;
/** The API demands `max_tokens`; a request without it is refused there. */
const assumedMaxOutputTokens = 64_000;

/** An encoded or malformed body has no known model: it is priced at the highest rate. */
export function describeRequest(bytes: Buffer, encoding: string | undefined): CallRequest {
  const parsed = isPlain(encoding) ? parseBody(bytes) : undefined;
  const body = parsed?.kind === "parsed" ? parsed.body : {};
  const { files, tokens } = filesIn(body);
  const { model, max_tokens, stream, speed, inference_geo } = body;
  const hasLimit = typeof max_tokens === "number" && max_tokens > 0;
  return {
    model: typeof model === "string" ? model : undefined,
    isStream: stream === true,
    inputTokens: Math.max(1, Math.ceil((bytes.length - files) / bytesPerToken) + tokens),
    maxOutputTokens: hasLimit ? max_tokens : assumedMaxOutputTokens,
    fast: speed === "fast",
    us_only: inference_geo === "us",
  };
}

function isPlain(encoding: string | undefined): boolean {
  return encoding === undefined || encoding === "identity";
}

/** Attached files are counted by what they are and not by their length in base64. */
function filesIn(value: unknown): { files: number; tokens: number } {
  if (typeof value !== "object" || value === null) return { files: 0, tokens: 0 };
  if ("type" in value && value.type === "base64" && "data" in value) {
    const size = typeof value.data === "string" ? value.data.length : 0;
    const isImage = "media_type" in value && String(value.media_type).startsWith("image/");
    const tokens = isImage ? tokensPerImage : Math.ceil(size / base64BytesPerDocumentToken);
    return { files: size, tokens };
  }
  const sum = { files: 0, tokens: 0 };
  for (const part of Object.values(value)) {
    const { files, tokens } = filesIn(part);
    sum.files += files;
    sum.tokens += tokens;
  }
  return sum;
}

/** The most that a call can be expected to use. */
export function worstCase(request: CallRequest): ModelCall[] {
  return [{ ...estimated(request), output_tokens: request.maxOutputTokens }];
}

/** How an answer stands, or how it ended. */
export interface AnswerSoFar {
  /** None while nothing was answered. */
  status?: number;
  /** Tokens that the answer told of. */
  told: readonly ModelCall[];
  /** The answer has told its last count. */
  isComplete: boolean;
  bytesDown: number;
  ending?: "complete" | "cut" | "client_gone" | "unreachable";
  failure?: string;
}

/** No byte of a request has left then. */
const neverConnected: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/**
 * What to count for a call: what its answer told, and where it did not tell, an estimate. An
 * answer that was cut off is never free, since the API may have generated all of it.
 */
export function usageOf(request: CallRequest, answer: AnswerSoFar): readonly ModelCall[] {
  const { status, told, isComplete, ending, failure } = answer;
  if (ending === "unreachable" && neverConnected.has(failure ?? "")) return [];
  if (status !== undefined && status >= 300) return told;
  if (isComplete) return told;
  const [main = estimated(request), ...others] = told;
  const seen = Math.ceil(answer.bytesDown / bytesPerToken);
  const isHidden = !request.isStream && ending !== undefined;
  const output = isHidden ? request.maxOutputTokens : Math.min(seen, request.maxOutputTokens);
  return [{ ...main, output_tokens: Math.max(main.output_tokens, output) }, ...others];
}

function estimated({ model, inputTokens, fast, us_only }: CallRequest): ModelCall {
  return { ...noUsage, model, input_tokens: inputTokens, fast, us_only };
}
