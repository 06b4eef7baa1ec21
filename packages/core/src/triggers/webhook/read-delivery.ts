import { UserError } from "../../errors/user-error.ts";
import { valuesAt } from "../values-at.ts";
import type { Headers, Signed } from "./verify-signature.ts";
import type { WebhookSchedule } from "./webhook-schedule.ts";

type Signature = WebhookSchedule["signature"];

/** A delivery as far as deciding about it goes. */
export interface IncomingDelivery {
  kind: Signature["kind"];
  event: string | null;
  payload: unknown;
}

/** Only once it is known to be signed: until then nothing of it is looked into. */
export function readDelivery(
  { kind }: Signature,
  { headers, body }: Signed,
): IncomingDelivery & { text: string } {
  const text = textOf(body);
  const payload = mediaType(headers) === form ? formOf(text) : jsonOf(text);
  return { kind, event: events[kind](payload, headers), payload, text };
}

/** Asked before a byte of the body is read. */
export function checkMediaType({ kind }: Signature, headers: Headers): void {
  const type = mediaType(headers);
  const takesForms = kind === "github" || kind === "slack";
  if (/^application\/([\w.-]+\+)?json$/.test(type) || (takesForms && type === form)) return;
  throw new UserError("media_type_wrong", "this webhook takes application/json");
}

const form = "application/x-www-form-urlencoded";

function mediaType(headers: Headers): string {
  return (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

const events: Record<Signature["kind"], (payload: unknown, headers: Headers) => string | null> = {
  github: (payload, headers) => {
    const action = firstText(payload, "action");
    const event = headers["x-github-event"] ?? null;
    return event && action ? `${event}.${action}` : event;
  },
  standard: (payload) => firstText(payload, "type"),
  slack: (payload) => firstText(payload, "event.type", "command", "type"),
  hmac: (payload) => firstText(payload, "type", "event", "event_type"),
  token: (payload) => firstText(payload, "type", "event", "event_type", "object_kind"),
};

export function firstText(payload: unknown, ...paths: string[]): string | null {
  const texts = paths.flatMap((path) => valuesAt(payload, path));
  return texts.find((text): text is string => typeof text === "string" && text !== "") ?? null;
}

function textOf(body: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch (cause) {
    throw new UserError("request_invalid", "the body is not UTF-8", { cause });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UserError("request_invalid", "the body is not JSON", { cause });
  }
}

/** GitHub and Slack put the whole payload as JSON into one field; a slash command is fields alone. */
function formOf(text: string): unknown {
  const fields = Object.fromEntries(new URLSearchParams(text));
  return fields.payload === undefined ? fields : jsonOf(fields.payload);
}
