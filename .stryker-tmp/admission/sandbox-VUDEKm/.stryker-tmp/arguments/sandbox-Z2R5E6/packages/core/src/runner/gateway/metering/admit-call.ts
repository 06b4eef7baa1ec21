import type { IncomingMessage, ServerResponse } from "node:http";
import { describeLimit } from "../../contract/spend-limit.ts";
import type { BodyReader } from "../policy/read-body.ts";
import { readCallRequest } from "./estimate.ts";
import type { MeteredCall, SpendMeter } from "./spend-meter.ts";

/** The account that pays for the calls of a run. */
export interface SpendAccount {
  /** Undefined between two turns of a session, when spending could not be recorded. */
  meter: SpendMeter | undefined;
}

export type CallAdmission =
  | { kind: "pass"; bytes: Buffer; call: MeteredCall }
  | { kind: "refuse"; status: 400 | 413 | 529; reason: string }
  | { kind: "gone" };

/** Token counts and model lists cost nothing. */
export function isBilledCall(method: string, path: string): boolean {
  return method === "POST" && /\/v1\/messages(\?|$)/.test(path);
}

/**
 * Admits a message call to spend, or refuses it. Refusals have status 400, because `claude` reports
 * that immediately. It would retry a 429 or 5xx for minutes, and report a 403 as a failed login.
 */
export async function admitCall(
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer | undefined,
  { account, bodyReader }: { account: SpendAccount; bodyReader: BodyReader },
): Promise<CallAdmission> {
  const bodyRead = body ? { kind: "read" as const, bytes: body } : await bodyReader.read(request);
  if (bodyRead.kind === "gone") return bodyRead;
  if (bodyRead.kind === "refused") return { ...bodyRead, kind: "refuse" };
  const { bytes } = bodyRead;
  const { meter } = account;
  if (!meter) return { kind: "refuse", status: 400, reason: "no turn of this run is in progress" };
  const clientGone = new AbortController();
  const onClose = () => clientGone.abort();
  response.once("close", onClose);
  if (response.destroyed) onClose();
  const callRequest = readCallRequest(bytes, request.headers["content-encoding"]);
  const admitted = await meter.admit(callRequest, clientGone.signal);
  response.off("close", onClose);
  if (admitted.kind !== "refuse")
    return admitted.kind === "gone" ? admitted : { ...admitted, bytes };
  return { kind: "refuse", status: 400, reason: describeLimit(admitted.limit) };
}
