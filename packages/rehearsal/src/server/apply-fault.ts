import { awsException } from "../providers/aws-event-stream.ts";
import {
  type ErrorDialect,
  overloadFacts,
  providerError,
  statusError,
} from "../providers/provider-errors.ts";
import { type Fault, faultKinds } from "../script/fault.ts";
import type { PlannedResponse } from "./planned-response.ts";
import { encodeSse } from "./sse-events.ts";

/** How a service writes errors and streams. */
export interface WireFormat {
  dialect: ErrorDialect;
  isBinary: boolean;
}

/** Applies a fault to a response. */
export function applyFault(
  response: PlannedResponse,
  fault: Fault,
  isStream: boolean,
  { dialect, isBinary }: WireFormat,
): PlannedResponse {
  const { chunks, delay } = response;
  const { error_type: type, message } = fault;
  if (fault.status !== undefined)
    return withHeaders({ ...statusError(dialect, fault.status, { type, message }), delay }, fault);
  if (fault.error !== undefined)
    return withHeaders({ ...providerError(dialect, fault.error, message), delay }, fault);
  if (fault.overload === "before" || (fault.overload && !isStream))
    return withHeaders({ ...providerError(dialect, "overloaded", message), delay }, fault);
  if (fault.overload === "midway") {
    const half = chunks.slice(0, Math.ceil(chunks.length / 2));
    return { ...response, chunks: [...half, overloadEvent({ dialect, isBinary })] };
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
  if (fault.error !== undefined) return fault.error;
  return faultKinds.find((kind) => fault[kind] !== undefined) ?? "fault";
}

function overloadEvent({ dialect, isBinary }: WireFormat): string | Buffer {
  const { type, message } = overloadFacts(dialect);
  return isBinary
    ? awsException(`${type.charAt(0).toLowerCase()}${type.slice(1)}`, message)
    : encodeSse({ type: "error", error: { type, message } });
}

function withHeaders(response: PlannedResponse, { headers }: Fault): PlannedResponse {
  return { ...response, headers: { ...response.headers, ...headers } };
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
