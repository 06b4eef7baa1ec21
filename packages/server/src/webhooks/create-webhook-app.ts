import type { IncomingHttpHeaders } from "node:http";
import {
  type ReceiveResult,
  TooManyDeliveries,
  type WebhookReceiver,
  type WebhookTarget,
} from "@herdctl/core/internal";
import { UserError } from "@herdctl/protocol";
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { isBug, routeNotFoundError, toErrorResponse } from "../error-response.ts";
import { ByteBudget } from "./byte-budget.ts";
import { discardRemainingBody } from "./discard-remaining-body.ts";
import { ClientDisconnectedError, readBody } from "./read-body.ts";

export type WebhookApp = Hono<{ Bindings: HttpBindings }>;

export interface WebhookAppOptions {
  onBug?(error: unknown): void;
}

const mebibyte = 1024 * 1024;
const maxBodyBytes = 5 * mebibyte;
const maxInFlightBytes = 64 * mebibyte;
/** The default `retry-after` for deliveries that cannot be accepted now. */
const retryAfterSeconds = 30;

/** Receives webhook deliveries. */
export function createWebhookApp(
  receiver: WebhookReceiver,
  { onBug }: WebhookAppOptions = {},
): WebhookApp {
  const app: WebhookApp = new Hono();
  const inFlightBudget = new ByteBudget(maxInFlightBytes);
  app.post("/hooks/:agent/:schedule", async (c) => {
    const { incoming, outgoing } = c.env;
    const target = { agent: c.req.param("agent"), schedule: c.req.param("schedule") };
    try {
      const headers = flattenHeaders(incoming.headers);
      requireIdentityEncoding(headers);
      receiver.checkHeaders(target, headers);
      const body = await readBody(incoming, maxBodyBytes, inFlightBudget);
      return toResponse(
        await receiver.receive(target, { headers, body }, incoming.socket.remoteAddress),
      );
    } catch (error) {
      if (!incoming.complete) discardRemainingBody(incoming, outgoing);
      return rejectDelivery(receiver, target, error);
    }
  });
  app.notFound((c) => {
    if (!c.env.incoming.complete) discardRemainingBody(c.env.incoming, c.env.outgoing);
    return errorResponse(routeNotFoundError(c.req.method, c.req.path));
  });
  app.onError((error) => {
    onBug?.(error);
    return errorResponse(error);
  });
  return app;
}

/** Responds once the delivery is stored durably. A redelivery gets the job of the first delivery. */
function toResponse(receipt: ReceiveResult): Response {
  if (receipt.kind === "challenge") return Response.json({ challenge: receipt.answer });
  const { delivery, admission } = receipt;
  if (!admission) return Response.json({ delivery: delivery.id, unwanted: delivery.reason });
  const { job, created } = admission;
  const responseBody = {
    delivery: delivery.id,
    job: job.id,
    status: job.status,
    duplicate: !created,
  };
  return Response.json(responseBody, { status: 202 });
}

function rejectDelivery(
  receiver: WebhookReceiver,
  target: WebhookTarget,
  error: unknown,
): Response {
  if (error instanceof ClientDisconnectedError) {
    receiver.recordRefusal(target, "sender_gone");
    return new Response(null, { status: 408 });
  }
  if (isBug(error)) throw error;
  if (error instanceof UserError) receiver.recordRefusal(target, error.code);
  return errorResponse(error);
}

function errorResponse(error: unknown): Response {
  const { status, body } = toErrorResponse(error);
  const delaySeconds =
    error instanceof TooManyDeliveries ? error.retryAfterSeconds : retryAfterSeconds;
  const headers =
    status === 429 || status === 503 ? { "retry-after": String(delaySeconds) } : undefined;
  return Response.json(body, { status, headers });
}

function requireIdentityEncoding(headers: Record<string, string | undefined>): void {
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding === "identity") return;
  throw new UserError("media_type_wrong", `the content encoding ${encoding} is not supported`);
}

function flattenHeaders(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  const entries = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")]);
  return Object.fromEntries(entries);
}
