import { parseBody } from "../policy/parse-body.ts";
import { type ModelUsage, noUsage } from "./call-usage.ts";

/** The facts about a message call that are known before its response. */
export interface CallRequest {
  model?: string;
  isStream: boolean;
  inputTokens: number;
  maxOutputTokens: number;
  fast: boolean;
  us_only: boolean;
}

const bytesPerToken = 4;
/** The API scales larger images down to about this size. */
const tokensPerImage = 5_000;
const base64BytesPerDocumentToken = 10;
/** For requests without `max_tokens`, which the API rejects. */
const assumedMaxOutputTokens = 64_000;

/** The model of an encoded or malformed body is unknown, so it is priced at the highest rate. */
export function readCallRequest(bytes: Buffer, encoding: string | undefined): CallRequest {
  const parsed = isUnencoded(encoding) ? parseBody(bytes) : undefined;
  const body = parsed?.kind === "parsed" ? parsed.body : {};
  const { fileBytes, tokens } = measureFiles(body);
  const { model, max_tokens, stream, speed, inference_geo } = body;
  const hasLimit = typeof max_tokens === "number" && max_tokens > 0;
  return {
    model: typeof model === "string" ? model : undefined,
    isStream: stream === true,
    inputTokens: Math.max(1, Math.ceil((bytes.length - fileBytes) / bytesPerToken) + tokens),
    maxOutputTokens: hasLimit ? max_tokens : assumedMaxOutputTokens,
    fast: speed === "fast",
    us_only: inference_geo === "us",
  };
}

function isUnencoded(encoding: string | undefined): boolean {
  return encoding === undefined || encoding === "identity";
}

/** Attached files are counted by type, not by their base64 length. */
function measureFiles(value: unknown): { fileBytes: number; tokens: number } {
  if (typeof value !== "object" || value === null) return { fileBytes: 0, tokens: 0 };
  if ("type" in value && value.type === "base64" && "data" in value) {
    const size = typeof value.data === "string" ? value.data.length : 0;
    const isImage = "media_type" in value && String(value.media_type).startsWith("image/");
    const tokens = isImage ? tokensPerImage : Math.ceil(size / base64BytesPerDocumentToken);
    return { fileBytes: size, tokens };
  }
  const sum = { fileBytes: 0, tokens: 0 };
  for (const part of Object.values(value)) {
    const { fileBytes, tokens } = measureFiles(part);
    sum.fileBytes += fileBytes;
    sum.tokens += tokens;
  }
  return sum;
}

/** The maximum usage to expect of a call. */
export function worstCaseUsage(request: CallRequest): ModelUsage[] {
  return [{ ...estimatedUsage(request), output_tokens: request.maxOutputTokens }];
}

/** The progress or end of a response. */
export interface ResponseProgress {
  /** Undefined before the response starts. */
  status?: number;
  /** Usage reported in the response so far. */
  reportedUsage: readonly ModelUsage[];
  /** The response has reported its final count. */
  isComplete: boolean;
  bytesDown: number;
  ending?: "complete" | "cut" | "client_gone" | "unreachable";
  failure?: string;
}

/** Errors that occur before any byte of the request was sent. */
const connectErrorCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ECREDENTIAL",
  "ENOENT",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/**
 * The usage to count for a call: the reported usage, or an estimate if it is missing. A response that
 * was cut off is never free, because the API may have generated all of it.
 */
export function billableUsage(
  request: CallRequest,
  progress: ResponseProgress,
): readonly ModelUsage[] {
  const { status, reportedUsage, isComplete, ending, failure } = progress;
  if (ending === "unreachable" && connectErrorCodes.has(failure ?? "")) return [];
  if (status !== undefined && status >= 300) return reportedUsage;
  // defence: aborted-call-cost
  if (isComplete) return reportedUsage;
  const [main = estimatedUsage(request), ...others] = reportedUsage;
  const streamedTokens = Math.ceil(progress.bytesDown / bytesPerToken);
  const isOutputUnknown = !request.isStream && ending !== undefined;
  const output = isOutputUnknown
    ? request.maxOutputTokens
    : Math.min(streamedTokens, request.maxOutputTokens);
  return [{ ...main, output_tokens: Math.max(main.output_tokens, output) }, ...others];
}

function estimatedUsage({ model, inputTokens, fast, us_only }: CallRequest): ModelUsage {
  return { ...noUsage, model, input_tokens: inputTokens, fast, us_only };
}
