import { type Fault, faultKinds } from "../script/fault.ts";
import { apiError, errorTypeOf } from "./api-error.ts";
import type { Delivery } from "./delivery.ts";
import { frame } from "./frames.ts";

/** A good delivery made bad in the way a fault says. */
export function spoil(whole: Delivery, fault: Fault, stream: boolean): Delivery {
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

/** A word for the ledger. */
export function faultName(fault: Fault): string {
  if (fault.status !== undefined) return `status ${fault.status}`;
  return faultKinds.find((kind) => fault[kind] !== undefined) ?? "fault";
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
