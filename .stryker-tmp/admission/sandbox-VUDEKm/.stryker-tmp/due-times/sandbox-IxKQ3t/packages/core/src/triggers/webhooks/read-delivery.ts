import { UserError } from "@herdctl/protocol";
import { valuesAt } from "../../jobs/prompt-template.ts";
import type { RequestHeaders, SignedRequest } from "./verify-signature.ts";
import type { WebhookSchedule } from "./webhook-schedule.ts";

type Signature = WebhookSchedule["signature"];

/** The parts of a delivery that decide about it. */
export interface IncomingDelivery {
  kind: Signature["kind"];
  event: string | null;
  payload: unknown;
}

/** Call it only after the signature was verified: unverified content is not parsed. */
export function readDelivery(
  { kind }: Signature,
  { headers, body }: SignedRequest,
): IncomingDelivery & { text: string } {
  const text = decodeUtf8(body);
  const payload = mediaTypeOf(headers) === formMediaType ? parseForm(text) : parseJson(text);
  return { kind, event: eventReaders[kind](payload, headers), payload, text };
}

/** Checked before the body is read. */
export function checkMediaType({ kind }: Signature, headers: RequestHeaders): void {
  const type = mediaTypeOf(headers);
  const acceptsForms = kind === "github" || kind === "slack";
  if (/^application\/([\w.-]+\+)?json$/.test(type) || (acceptsForms && type === formMediaType))
    return;
  throw new UserError("media_type_wrong", "this webhook accepts application/json");
}

const formMediaType = "application/x-www-form-urlencoded";

function mediaTypeOf(headers: RequestHeaders): string {
  return (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

const eventReaders: Record<
  Signature["kind"],
  (payload: unknown, headers: RequestHeaders) => string | null
> = {
  github: (payload, headers) => {
    const action = firstNonEmptyText(payload, "action");
    const event = headers["x-github-event"] ?? null;
    return event && action ? `${event}.${action}` : event;
  },
  standard: (payload) => firstNonEmptyText(payload, "type"),
  slack: (payload) => firstNonEmptyText(payload, "event.type", "command", "type"),
  hmac: (payload) => firstNonEmptyText(payload, "type", "event", "event_type"),
  token: (payload) => firstNonEmptyText(payload, "type", "event", "event_type", "object_kind"),
};

export function firstNonEmptyText(payload: unknown, ...paths: string[]): string | null {
  const texts = paths.flatMap((path) => valuesAt(payload, path));
  return texts.find((text): text is string => typeof text === "string" && text !== "") ?? null;
}

function decodeUtf8(body: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch (cause) {
    throw new UserError("request_invalid", "the body is not UTF-8", { cause });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UserError("request_invalid", "the body is not JSON", { cause });
  }
}

/**
 * GitHub and Slack put the whole payload as JSON into one field; a slash command has separate
 * fields.
 */
function parseForm(text: string): unknown {
  const fields = Object.fromEntries(new URLSearchParams(text));
  return fields.payload === undefined ? fields : parseJson(fields.payload);
}
