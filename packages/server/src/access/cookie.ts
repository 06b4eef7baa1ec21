import { createHmac } from "node:crypto";
import type { Login } from "@herdctl/core";
import { isSame, type Keys } from "./keys.ts";

/**
 * The cookie of a browser that signed in. It holds the id of the login, signed, so that an id alone
 * is worth nothing; whether the login is still good says the database.
 */
export function sealCookie(
  { id, expires_at }: Pick<Login, "id" | "expires_at">,
  keys: Keys,
  isSecure: boolean,
): string {
  const seconds = Math.max(0, Math.floor((Date.parse(expires_at) - Date.now()) / 1000));
  return cookieText(keys, `${id}.${signature(id, keys)}`, seconds, isSecure);
}

/** What takes it out of the browser. */
export function emptyCookie(keys: Keys): string {
  return cookieText(keys, "", 0, false);
}

/** The id of the login; undefined for what is not ours. */
export function openCookie(header: string | undefined, keys: Keys): string | undefined {
  const value = valueIn(header, keys.cookieName);
  const [, id, signed] = /^([0-9a-f]{24})\.([\w-]{43})$/.exec(value ?? "") ?? [];
  if (id === undefined || signed === undefined) return undefined;
  return isSame(signed, signature(id, keys)) ? id : undefined;
}

function signature(id: string, { cookie }: Keys): string {
  return createHmac("sha256", cookie).update(id).digest("base64url");
}

function cookieText({ cookieName }: Keys, value: string, maxAge: number, isSecure: boolean) {
  const flags = `Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
  return `${cookieName}=${value}; ${flags}`;
}

function valueIn(header: string | undefined, name: string): string | undefined {
  const found = header?.split(/; */).find((one) => one.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}
