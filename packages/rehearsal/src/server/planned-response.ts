import { awsChunk } from "../providers/aws-event-stream.ts";
import type { ApiMessage } from "../reply/api-message.ts";
import { createApiError, errorTypeForStatus } from "./api-error.ts";
import { encodeSse, toStreamEvents } from "./sse-events.ts";

/** A response, planned completely before the first byte is sent. */
export interface PlannedResponse {
  status: number;
  headers: Record<string, string>;
  chunks: (string | Buffer)[];
  /** Delays before the first byte and between chunks, in milliseconds. */
  delay: { first: number; between: number };
  ending: "finish" | "break" | "silence" | "never";
}

/** A JSON response in one chunk. */
export function jsonResponse(value: unknown, status = 200): PlannedResponse {
  const headers = { "content-type": "application/json" };
  const chunks = [JSON.stringify(value)];
  return { status, headers, chunks, delay: { first: 0, between: 0 }, ending: "finish" };
}

export function errorResponse(status: number, message: string): PlannedResponse {
  return jsonResponse(createApiError(errorTypeForStatus(status), message), status);
}

export function messageResponse(
  message: ApiMessage,
  isStream: boolean,
  delay: { first?: number; between?: number } = {},
  isBinary = false,
): PlannedResponse {
  const streamType = isBinary ? "application/vnd.amazon.eventstream" : "text/event-stream";
  return {
    status: 200,
    headers: { "content-type": isStream ? streamType : "application/json" },
    chunks: isStream
      ? toStreamEvents(message).map((event) => (isBinary ? awsChunk(event) : encodeSse(event)))
      : [JSON.stringify(message)],
    delay: { first: delay.first ?? 0, between: delay.between ?? 0 },
    ending: "finish",
  };
}
