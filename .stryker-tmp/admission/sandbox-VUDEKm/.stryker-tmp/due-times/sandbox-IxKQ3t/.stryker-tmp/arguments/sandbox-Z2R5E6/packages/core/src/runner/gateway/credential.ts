import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { UserError } from "@herdctl/protocol";

/**
 * The credential sent upstream. `passthrough` forwards the client's own credential: this is how
 * subscriptions work, whose tokens herdctl does not hold.
 */
export type GatewayCredential =
  | { kind: "api_key"; value: string }
  | { kind: "auth_token"; value: string }
  | { kind: "passthrough" };

export const credentialHeaderNames: readonly string[] = ["x-api-key", "authorization"];

/** Rejects a key with spaces or line breaks early; otherwise every request would fail with it. */
export function checkCredential(credential: GatewayCredential): void {
  if (credential.kind === "passthrough" || /^[\x21-\x7e]+$/.test(credential.value)) return;
  throw new UserError(
    "config_invalid",
    "the API credential is empty or contains a space or a line break",
    {
      hint: "Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN again, without surrounding whitespace.",
    },
  );
}

export function createPlaceholder(): string {
  return `herdctl-${randomBytes(24).toString("hex")}`;
}

/** Whether a request has the run's placeholder, or with `passthrough` any credential. */
export function isAuthorized(
  headers: IncomingHttpHeaders,
  credential: GatewayCredential,
  placeholder: string,
): boolean {
  const presented = presentedCredentials(headers);
  if (credential.kind === "passthrough") return presented.length > 0;
  // defence: gateway-placeholder
  return presented.some((key) => equalsConstantTime(key, placeholder));
}

export function buildCredentialHeaders(credential: GatewayCredential): Record<string, string> {
  if (credential.kind === "api_key") return { "x-api-key": credential.value };
  if (credential.kind === "auth_token") return { authorization: `Bearer ${credential.value}` };
  return {};
}

function presentedCredentials(headers: IncomingHttpHeaders): string[] {
  const key = headers["x-api-key"];
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  return [typeof key === "string" ? key : "", bearer ?? ""].filter((value) => value !== "");
}

function equalsConstantTime(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
