import type { IncomingMessage } from "node:http";
import { asksOf, betaAsks } from "./asks.ts";
import { parseBody } from "./parse-body.ts";
import { type Reach, refuseAsk } from "./reach.ts";
import type { BodyRoom } from "./read-body.ts";

/** What may go on of a request: these bytes and no others. */
export type SealedRequest =
  | { kind: "pass"; bytes: Buffer }
  | { kind: "refuse"; status: 400 | 413 | 529; reason: string; remedy?: string }
  | { kind: "gone" };

/**
 * A request whose body must be known before it goes on. A refusal is the API's 400: on a 403 the
 * binary tells of a failed login, and a run that was told so pauses its credential.
 */
export async function sealRequest(
  request: IncomingMessage,
  path: string,
  allow: readonly Reach[],
  room: BodyRoom,
): Promise<SealedRequest> {
  // Only messages and token counts have a body that means something.
  if (request.method !== "POST") return { kind: "pass", bytes: Buffer.alloc(0) };
  const refuse = (reason: string, remedy?: string): SealedRequest => ({
    kind: "refuse",
    status: 400,
    reason,
    remedy,
  });
  const read = await room.read(request);
  if (read.kind === "gone") return read;
  if (read.kind === "refused") return { ...read, kind: "refuse" };
  if (!/^[^?]*(\?beta=true)?$/.test(path)) return refuse("the query of the request is not known");
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") return refuse("the body is encoded, so it cannot be looked at");
  const parsed = parseBody(read.bytes);
  if (parsed.kind === "malformed") return refuse(parsed.reason);
  const betas = request.headers["anthropic-beta"] ?? "";
  const refusal =
    refuseAsk(betaAsks(String(betas)), allow) ?? refuseAsk(asksOf(parsed.body), allow);
  if (refusal) return refuse(refusal.reason, refusal.remedy);
  return { kind: "pass", bytes: parsed.bytes };
}
