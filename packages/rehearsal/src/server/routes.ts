import type { IncomingHttpHeaders } from "node:http";
import { estimatePromptTokens, toApiMessage } from "../reply/api-message.ts";
import type { ScriptedModel } from "../reply/scripted-model.ts";
import { readModelRequest } from "../request/model-request.ts";
import { type RequestBody, requestBodySchema } from "../request/request-body.ts";
import type { LedgerEntry, RequestKind } from "../request-ledger.ts";
import { applyFault, describeFault, type WireFormat } from "./apply-fault.ts";
import { describeModel, listModels } from "./models.ts";
import {
  errorResponse,
  jsonResponse,
  messageResponse,
  type PlannedResponse,
} from "./planned-response.ts";

export interface ReceivedRequest {
  headers: IncomingHttpHeaders;
  path: string;
  body: unknown;
  entry: LedgerEntry;
}

export interface Route {
  method: string;
  path: RegExp;
  kind: RequestKind;
  plan: (received: ReceivedRequest) => PlannedResponse;
}

export function createRoutes(model: ScriptedModel): Route[] {
  return [
    {
      method: "POST",
      path: /^\/v1\/messages$/,
      kind: "main",
      plan: withParsedBody((body, received) => planMessage(model, body, received)),
    },
    {
      method: "POST",
      path: /^\/v1\/messages\/count_tokens$/,
      kind: "count_tokens",
      plan: withParsedBody((body) => jsonResponse({ input_tokens: estimatePromptTokens(body) })),
    },
    {
      method: "GET",
      path: /^\/v1\/models$/,
      kind: "models",
      plan: () => jsonResponse(listModels()),
    },
    {
      method: "GET",
      path: /^\/v1\/models\/[^/]+$/,
      kind: "models",
      plan: ({ path }) => jsonResponse(describeModel(decodeURIComponent(path.slice(11)))),
    },
    // Claude Code 2.1.197 probes `/`, 2.1.325 probes `/api/hello`.
    { method: "HEAD", path: /^\/(api\/hello)?$/, kind: "probe", plan: () => jsonResponse({}) },
  ];
}

export function withParsedBody(
  plan: (body: RequestBody, received: ReceivedRequest) => PlannedResponse,
  refuse: (message: string) => PlannedResponse = (message) => errorResponse(400, message),
): Route["plan"] {
  return (received) => {
    const parsed = requestBodySchema.safeParse(received.body);
    if (parsed.success) return plan(parsed.data, received);
    const [issue] = parsed.error.issues;
    const where = issue?.path.join(".") || "body";
    return refuse(`${where}: ${issue?.message ?? "invalid"}`);
  };
}

export function planMessage(
  model: ScriptedModel,
  body: RequestBody,
  { headers, entry }: ReceivedRequest,
  wire: WireFormat = { dialect: "anthropic", isBinary: false },
): PlannedResponse {
  const request = readModelRequest(headers, body, entry.bodyHash);
  const { rule, fault, reply } = model.answer(request);
  const message = toApiMessage(reply, request);
  const stream = body.stream ?? false;
  const delay = typeof reply === "string" ? undefined : reply.delay;
  const response = messageResponse(message, stream, delay, wire.isBinary);
  const faultedResponse = fault ? applyFault(response, fault, stream, wire) : response;
  Object.assign(entry, {
    kind: request.speaker,
    model: body.model,
    stream,
    prompt: request.conversation.currentCall.prompt,
    rule,
    fault: fault && describeFault(fault),
    usage: faultedResponse.status === 200 ? message.usage : undefined,
  } satisfies Partial<LedgerEntry>);
  return faultedResponse;
}
