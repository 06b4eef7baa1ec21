import { createHmac } from "node:crypto";
import type { Login } from "@herdctl/protocol";
import { type AuthSecrets, isEqualSecret } from "./auth-secrets.ts";

/**
 * The cookie of a signed-in browser. It contains the login id and a signature, so that an id alone is
 * not enough. Whether the login is still valid is stored in the database.
 */
export function createSessionCookie(
  { id, expires_at }: Pick<Login, "id" | "expires_at">,
  secrets: AuthSecrets,
  isSecure: boolean,
): string {
  const lifetimeSeconds = Math.max(0, Math.floor((Date.parse(expires_at) - Date.now()) / 1000));
  return serializeCookie(secrets, `${id}.${sign(id, secrets)}`, lifetimeSeconds, isSecure);
}

/** A cookie that removes the session cookie from the browser. */
export function createExpiredCookie(secrets: AuthSecrets): string {
  return serializeCookie(secrets, "", 0, false);
}

/** The login id; undefined for a missing or forged cookie. */
export function verifySessionCookie(
  header: string | undefined,
  secrets: AuthSecrets,
): string | undefined {
  const value = findCookieValue(header, secrets.cookieName);
  const [, id, signature] = /^([0-9a-f]{24})\.([\w-]{43})$/.exec(value ?? "") ?? [];
  if (id === undefined || signature === undefined) return undefined;
  // defence: signed-cookie
  return isEqualSecret(signature, sign(id, secrets)) ? id : undefined;
}

function sign(id: string, { cookieKey }: AuthSecrets): string {
  return createHmac("sha256", cookieKey).update(id).digest("base64url");
}

function serializeCookie(
  { cookieName }: AuthSecrets,
  value: string,
  maxAgeSeconds: number,
  isSecure: boolean,
) {
  const flags = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
  return `${cookieName}=${value}; ${flags}`;
}

function findCookieValue(header: string | undefined, name: string): string | undefined {
  const cookiePair = header?.split(/; */).find((pair) => pair.startsWith(`${name}=`));
  return cookiePair?.slice(name.length + 1);
}
