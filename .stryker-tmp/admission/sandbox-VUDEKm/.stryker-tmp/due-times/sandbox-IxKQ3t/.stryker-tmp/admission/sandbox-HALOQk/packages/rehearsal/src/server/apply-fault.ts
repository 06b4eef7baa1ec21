import { type Fault, faultKinds } from "../script/fault.ts";
import { createApiError, errorTypeForStatus } from "./api-error.ts";
import type { PlannedResponse } from "./planned-response.ts";
import { sseEvent } from "./sse-events.ts";

/** Applies a fault to a response. */
export function applyFault(
  response: PlannedResponse,
  fault: Fault,
  isStream: boolean,
): PlannedResponse {
  const { chunks } = response;
  if (fault.status !== undefined) return errorStatusResponse(response, fault, fault.status);
  if (fault.overload === "before" || (fault.overload && !isStream))
    return errorStatusResponse(response, fault, 529);
  if (fault.overload === "midway") {
    const half = chunks.slice(0, Math.ceil(chunks.length / 2));
    const error = { error: { type: errorTypeForStatus(529), message: "Overloaded" } };
    return { ...response, chunks: [...half, sseEvent("error", error)] };
  }
  if (fault.cut && "events" in fault.cut)
    return { ...response, chunks: chunks.slice(0, fault.cut.events), ending: "break" };
  if (fault.cut) {
    return {
      ...response,
      chunks: [joinChunks(chunks).subarray(0, fault.cut.bytes)],
      ending: "break",
    };
  }
  if (fault.stall)
    return { ...response, chunks: chunks.slice(0, fault.stall.events), ending: "silence" };
  if (fault.garbage) return { ...response, chunks: garbageChunks(chunks, fault.garbage, isStream) };
  if (fault.drip) {
    const delay = { ...response.delay, between: fault.drip.every };
    return { ...response, chunks: splitBytes(joinChunks(chunks), fault.drip.bytes), delay };
  }
  return { ...response, chunks: [], ending: "never" };
}

/** A short description for the ledger. */
export function describeFault(fault: Fault): string {
  if (fault.status !== undefined) return `status ${fault.status}`;
  return faultKinds.find((kind) => fault[kind] !== undefined) ?? "fault";
}

function errorStatusResponse(
  response: PlannedResponse,
  fault: Fault,
  status: number,
): PlannedResponse {
  const type = fault.error_type ?? errorTypeForStatus(status);
  return {
    ...response,
    status,
    headers: { "content-type": "application/json", ...fault.headers },
    chunks: [JSON.stringify(createApiError(type, fault.message ?? `Rehearsed ${type}`))],
  };
}

function garbageChunks(
  chunks: PlannedResponse["chunks"],
  where: "events" | "body",
  isStream: boolean,
) {
  if (where === "body" || !isStream) return ["<html><body>This is not the API.</body></html>"];
  return [...chunks.slice(0, 1), 'event: content_block_delta\ndata: {"type":"content_bl\n\n'];
}

function joinChunks(chunks: PlannedResponse["chunks"]): Buffer {
  return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk)));
}

function splitBytes(bytes: Buffer, size: number): Buffer[] {
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}
