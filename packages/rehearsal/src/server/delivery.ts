import type { Message } from "../reply/message.ts";
import type { Fault } from "../script/fault.ts";
import { apiError, errorTypeOf } from "./api-error.ts";
import { frame, toFrames } from "./frames.ts";

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

export function planDelivery(
  message: Message,
  stream: boolean,
  fault: Fault | undefined,
  delay: { first?: number; between?: number } = {},
): Delivery {
  const whole: Delivery = {
    status: 200,
    headers: { "content-type": stream ? "text/event-stream" : "application/json" },
    chunks: stream ? toFrames(message) : [JSON.stringify(message)],
    delay: { first: delay.first ?? 0, between: delay.between ?? 0 },
    end: "finish",
  };
  return fault ? spoil(whole, fault, stream) : whole;
}

/** A word for the ledger. */
export function faultName(fault: Fault): string {
  if (fault.status !== undefined) return `status ${fault.status}`;
  const { times: _, headers: __, error_type: ___, message: ____, ...kind } = fault;
  return Object.keys(kind)[0] ?? "fault";
}

function spoil(whole: Delivery, fault: Fault, stream: boolean): Delivery {
  const { chunks } = whole;
  if (fault.status !== undefined) return refusal(whole, fault, fault.status);
  if (fault.overload === "before" || (fault.overload && !stream)) return refusal(whole, fault, 529);
  if (fault.overload === "midway") {
    const half = chunks.slice(0, Math.ceil(chunks.length / 2));
    const error = { error: { type: errorTypeOf(529), message: "Overloaded" } };
    return { ...whole, chunks: [...half, frame("error", error)] };
  }
  if (fault.cut && "events" in fault.cut)
    return { ...whole, chunks: chunks.slice(0, fault.cut.events), end: "break" };
  if (fault.cut) {
    return { ...whole, chunks: [bytesOf(chunks).subarray(0, fault.cut.bytes)], end: "break" };
  }
  if (fault.stall) return { ...whole, chunks: chunks.slice(0, fault.stall.events), end: "silence" };
  if (fault.garbage) return { ...whole, chunks: garbage(chunks, fault.garbage, stream) };
  if (fault.drip) {
    const delay = { ...whole.delay, between: fault.drip.every };
    return { ...whole, chunks: slices(bytesOf(chunks), fault.drip.bytes), delay };
  }
  return { ...whole, chunks: [], end: "never" };
}

function refusal(whole: Delivery, fault: Fault, status: number): Delivery {
  const type = fault.error_type ?? errorTypeOf(status);
  return {
    ...whole,
    status,
    headers: { "content-type": "application/json", ...fault.headers },
    chunks: [JSON.stringify(apiError(type, fault.message ?? `Rehearsed ${type}`))],
  };
}

function garbage(chunks: Delivery["chunks"], where: "events" | "body", stream: boolean) {
  if (where === "body" || !stream) return ["<html><body>This is not the API.</body></html>"];
  return [...chunks.slice(0, 1), 'event: content_block_delta\ndata: {"type":"content_bl\n\n'];
}

function bytesOf(chunks: Delivery["chunks"]): Buffer {
  return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk)));
}

function slices(bytes: Buffer, size: number): Buffer[] {
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}
