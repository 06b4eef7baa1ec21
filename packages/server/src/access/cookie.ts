import { createHmac, randomBytes } from "node:crypto";
import { isSame, type Keys } from "./keys.ts";
import type { Scope } from "./visitor.ts";

const lifetime = 30 * 24 * 60 * 60;

export interface CookieContent {
  scope: Scope;
  id: string;
}

/**
 * Made anew at every login, and signed: it holds no token, cannot be brought along, and outlives
 * the fleet process, so that a restart signs nobody out.
 */
export function sealCookie(scope: Scope, keys: Keys, now: Date, isSecure: boolean): string {
  const ends = Math.floor(now.getTime() / 1000) + lifetime;
  const content = `${scope}.${ends}.${randomBytes(12).toString("base64url")}`;
  return cookieText(keys, `${content}.${signature(content, keys)}`, lifetime, isSecure);
}

/** What takes it out of the browser. */
export function emptyCookie(keys: Keys): string {
  return cookieText(keys, "", 0, false);
}

/** Undefined for what is not ours, or too old. */
export function openCookie(
  header: string | undefined,
  keys: Keys,
  now: Date,
): CookieContent | undefined {
  const value = valueIn(header, keys.cookieName);
  const [, content, scope, ends, id, signed] =
    /^((all|read)\.(\d{1,12})\.([\w-]{16}))\.([\w-]{43})$/.exec(value ?? "") ?? [];
  if (content === undefined || signed === undefined || id === undefined) return undefined;
  if (!isSame(signed, signature(content, keys))) return undefined;
  if (Number(ends) * 1000 <= now.getTime()) return undefined;
  return { scope: scope === "all" ? "all" : "read", id };
}

function signature(content: string, { cookie }: Keys): string {
  return createHmac("sha256", cookie).update(content).digest("base64url");
}

function cookieText({ cookieName }: Keys, value: string, maxAge: number, isSecure: boolean) {
  const flags = `Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
  return `${cookieName}=${value}; ${flags}`;
}

function valueIn(header: string | undefined, name: string): string | undefined {
  const found = header?.split(/; */).find((one) => one.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}
