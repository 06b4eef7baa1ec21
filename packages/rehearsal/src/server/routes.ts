import type { IncomingHttpHeaders } from "node:http";
import type { LedgerEntry, RequestKind } from "../ledger.ts";
import { promptTokens, toMessage } from "../reply/message.ts";
import type { Model } from "../reply/model.ts";
import { bodySchema, type RequestBody } from "../request/body.ts";
import { readModelRequest } from "../request/model-request.ts";
import { type Delivery, errorDelivery, jsonDelivery, messageDelivery } from "./delivery.ts";
import { describeModel, listModels } from "./models.ts";
import { faultName, spoil } from "./spoil.ts";

interface Arrival {
  headers: IncomingHttpHeaders;
  path: string;
  body: unknown;
  entry: LedgerEntry;
}

export interface Route {
  method: string;
  path: RegExp;
  kind: RequestKind;
  plan: (arrival: Arrival) => Delivery;
}

export function routesOf(model: Model): Route[] {
  return [
    {
      method: "POST",
      path: /^\/v1\/messages$/,
      kind: "main",
      plan: withBody((body, arrival) => planMessage(model, body, arrival)),
    },
    {
      method: "POST",
      path: /^\/v1\/messages\/count_tokens$/,
      kind: "count_tokens",
      plan: withBody((body) => jsonDelivery({ input_tokens: promptTokens(body) })),
    },
    {
      method: "GET",
      path: /^\/v1\/models$/,
      kind: "models",
      plan: () => jsonDelivery(listModels()),
    },
    {
      method: "GET",
      path: /^\/v1\/models\/[^/]+$/,
      kind: "models",
      plan: ({ path }) => jsonDelivery(describeModel(decodeURIComponent(path.slice(11)))),
    },
    // 2.1.197 asks `/` and 2.1.325 asks `/api/hello` whether anybody is there.
    { method: "HEAD", path: /^\/(api\/hello)?$/, kind: "probe", plan: () => jsonDelivery({}) },
  ];
}

function withBody(plan: (body: RequestBody, arrival: Arrival) => Delivery): Route["plan"] {
  return (arrival) => {
    const read = bodySchema.safeParse(arrival.body);
    if (read.success) return plan(read.data, arrival);
    const [issue] = read.error.issues;
    const where = issue?.path.join(".") || "body";
    return errorDelivery(400, `${where}: ${issue?.message ?? "not understood"}`);
  };
}

function planMessage(model: Model, body: RequestBody, { headers, entry }: Arrival): Delivery {
  const request = readModelRequest(headers, body, entry.bodyHash);
  const { rule, fault, reply } = model.answer(request);
  const message = toMessage(reply, request);
  const stream = body.stream ?? false;
  const delay = typeof reply === "string" ? undefined : reply.delay;
  const whole = messageDelivery(message, stream, delay);
  const delivery = fault ? spoil(whole, fault, stream) : whole;
  Object.assign(entry, {
    kind: request.speaker,
    model: body.model,
    stream,
    prompt: request.conversation.now.prompt,
    rule,
    fault: fault && faultName(fault),
    usage: delivery.status === 200 ? message.usage : undefined,
  } satisfies Partial<LedgerEntry>);
  return delivery;
}
