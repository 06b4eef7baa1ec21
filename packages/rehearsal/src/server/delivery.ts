import type { Message } from "../reply/message.ts";
import { apiError, errorTypeOf } from "./api-error.ts";
import { toFrames } from "./frames.ts";

/** What goes over the wire and how it ends; decided before the first byte is sent. */
export interface Delivery {
  status: number;
  headers: Record<string, string>;
  chunks: (string | Buffer)[];
  /** Milliseconds before the first byte and between chunks. */
  delay: { first: number; between: number };
  end: "finish" | "break" | "silence" | "never";
}

/** A plain answer in one piece. */
export function jsonDelivery(value: unknown, status = 200): Delivery {
  const headers = { "content-type": "application/json" };
  const chunks = [JSON.stringify(value)];
  return { status, headers, chunks, delay: { first: 0, between: 0 }, end: "finish" };
}

export function errorDelivery(status: number, message: string): Delivery {
  return jsonDelivery(apiError(errorTypeOf(status), message), status);
}

export function messageDelivery(
  message: Message,
  stream: boolean,
  delay: { first?: number; between?: number } = {},
): Delivery {
  return {
    status: 200,
    headers: { "content-type": stream ? "text/event-stream" : "application/json" },
    chunks: stream ? toFrames(message) : [JSON.stringify(message)],
    delay: { first: delay.first ?? 0, between: delay.between ?? 0 },
    end: "finish",
  };
}
