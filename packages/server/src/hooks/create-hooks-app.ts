import type { IncomingHttpHeaders } from "node:http";
import {
  type Receipt,
  TooManyDeliveries,
  UserError,
  type WebhookDoor,
  type WebhookTarget,
} from "@herdctl/core";
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { isBug, noSuchRoute, toFailure } from "../failure.ts";
import { closeSoon } from "./close-soon.ts";
import { readBody, SenderGone } from "./read-body.ts";
import { Room } from "./room.ts";

export type HooksApp = Hono<{ Bindings: HttpBindings }>;

export interface HooksOptions {
  onBug?(error: unknown): void;
}

const mebibyte = 1024 * 1024;
const bodyLimit = 5 * mebibyte;
const inFlight = 64 * mebibyte;
/** Seconds until a sender should try again what cannot be taken now. */
const aMoment = 30;

/** Takes deliveries of webhooks, and answers nothing else. */
export function createHooksApp(door: WebhookDoor, { onBug }: HooksOptions = {}): HooksApp {
  const app: HooksApp = new Hono();
  const room = new Room(inFlight);
  app.post("/hooks/:agent/:schedule", async (c) => {
    const { incoming, outgoing } = c.env;
    const target = { agent: c.req.param("agent"), schedule: c.req.param("schedule") };
    try {
      const headers = single(incoming.headers);
      checkEncoding(headers);
      door.check(target, headers);
      const body = await readBody(incoming, bodyLimit, room);
      return answerTo(await door.receive(target, { headers, body }, incoming.socket.remoteAddress));
    } catch (error) {
      if (!incoming.complete) closeSoon(incoming, outgoing);
      return refusal(door, target, error);
    }
  });
  app.notFound((c) => {
    if (!c.env.incoming.complete) closeSoon(c.env.incoming, c.env.outgoing);
    return failed(noSuchRoute(c.req.method, c.req.path));
  });
  app.onError((error) => {
    onBug?.(error);
    return failed(error);
  });
  return app;
}

/** Only once it is durable; a redelivery is told of the first one's job. */
function answerTo(receipt: Receipt): Response {
  if (receipt.kind === "challenge") return Response.json({ challenge: receipt.answer });
  const { delivery, admission } = receipt;
  if (!admission) return Response.json({ delivery: delivery.id, unwanted: delivery.reason });
  const { job, created } = admission;
  const told = { delivery: delivery.id, job: job.id, status: job.status, duplicate: !created };
  return Response.json(told, { status: 202 });
}

function refusal(door: WebhookDoor, target: WebhookTarget, error: unknown): Response {
  if (error instanceof SenderGone) {
    door.refused(target, "sender_gone");
    return new Response(null, { status: 408 });
  }
  if (isBug(error)) throw error;
  if (error instanceof UserError) door.refused(target, error.code);
  return failed(error);
}

function failed(error: unknown): Response {
  const { status, body } = toFailure(error);
  const wait = error instanceof TooManyDeliveries ? error.retryAfter : aMoment;
  const headers = status === 429 || status === 503 ? { "retry-after": String(wait) } : undefined;
  return Response.json(body, { status, headers });
}

function checkEncoding(headers: Record<string, string | undefined>): void {
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding === "identity") return;
  throw new UserError("media_type_wrong", `a body in ${encoding} is not taken`);
}

function single(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  const entries = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")]);
  return Object.fromEntries(entries);
}
