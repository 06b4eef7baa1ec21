import type { IncomingMessage, ServerResponse } from "node:http";
import type { BodyRoom } from "../policy/read-body.ts";
import { describeLimit } from "./decide-call.ts";
import { describeRequest } from "./estimate.ts";
import type { MeteredCall, SpendMeter } from "./spend-meter.ts";

/** The run that pays for calls, for as long as it is under way. */
export interface SpendAccount {
  /** Undefined between two turns of a session: nothing would record what is spent then. */
  meter: SpendMeter | undefined;
}

export type CallAdmission =
  | { kind: "pass"; bytes: Buffer; call: MeteredCall }
  | { kind: "refuse"; status: 400 | 413 | 529; reason: string }
  | { kind: "gone" };

/** Token counts and model lists cost nothing. */
export function isPriced(method: string, path: string): boolean {
  return method === "POST" && /\/v1\/messages(\?|$)/.test(path);
}

/**
 * Lets a message call spend, or says why it may not. The refusal is a 400, because both versions
 * of `claude` report that immediately: a 429 or 5xx they retry for minutes, and a 403 they report
 * as a failed login.
 */
export async function admitCall(
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer | undefined,
  { account, room }: { account: SpendAccount; room: BodyRoom },
): Promise<CallAdmission> {
  const read = body ? { kind: "read" as const, bytes: body } : await room.read(request);
  if (read.kind === "gone") return read;
  if (read.kind === "refused") return { ...read, kind: "refuse" };
  const { bytes } = read;
  const { meter } = account;
  if (!meter) return { kind: "refuse", status: 400, reason: "no turn of this run is under way" };
  const gone = new AbortController();
  const leave = () => gone.abort();
  response.once("close", leave);
  if (response.destroyed) leave();
  const wanted = describeRequest(bytes, request.headers["content-encoding"]);
  const admitted = await meter.admit(wanted, gone.signal);
  response.off("close", leave);
  if (admitted.kind !== "refuse")
    return admitted.kind === "gone" ? admitted : { ...admitted, bytes };
  return { kind: "refuse", status: 400, reason: describeLimit(admitted.limit) };
}
