import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { UserError } from "../errors/user-error.ts";

/**
 * What goes upstream. With `passthrough` the client's own credential does, which is how a
 * subscription passes: its tokens are never ours to hold.
 */
export type GatewayCredential =
  | { kind: "api_key"; value: string }
  | { kind: "auth_token"; value: string }
  | { kind: "passthrough" };

export const credentialHeaders: readonly string[] = ["x-api-key", "authorization"];

/** A key pasted with a line break would fail every request, deep inside. */
export function checkCredential(credential: GatewayCredential): void {
  if (credential.kind === "passthrough" || /^[\x21-\x7e]+$/.test(credential.value)) return;
  throw new UserError(
    "config_invalid",
    "the API credential is empty or holds a space or a line break",
    {
      hint: "Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN again, without anything around it.",
    },
  );
}

export function newPlaceholder(): string {
  return `herdctl-${randomBytes(24).toString("hex")}`;
}

/** Whether a request comes from the run that this gateway serves, or brings its own credential. */
export function isAdmitted(
  headers: IncomingHttpHeaders,
  credential: GatewayCredential,
  placeholder: string,
): boolean {
  const presented = presentedKeys(headers);
  if (credential.kind === "passthrough") return presented.length > 0;
  return presented.some((key) => sameText(key, placeholder));
}

export function headersFor(credential: GatewayCredential): Record<string, string> {
  if (credential.kind === "api_key") return { "x-api-key": credential.value };
  if (credential.kind === "auth_token") return { authorization: `Bearer ${credential.value}` };
  return {};
}

function presentedKeys(headers: IncomingHttpHeaders): string[] {
  const key = headers["x-api-key"];
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  return [typeof key === "string" ? key : "", bearer ?? ""].filter((one) => one !== "");
}

function sameText(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
