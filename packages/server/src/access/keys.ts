import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { WantedPort } from "@herdctl/core";
import { tokenFile } from "./token-file.ts";

/** The tokens that a fleet has without creating any by name. None of them is blank. */
export interface Keys {
  admin: string;
  read: string[];
  /** Signs cookies; whoever changes the token signs everybody out. */
  cookie: Buffer;
  /** A cookie is sent to every port of a host: each fleet has a name of its own for it. */
  cookieName: string;
}

export function keysOf(wanted: WantedPort, stateDir: string, port: number): Keys {
  const admin = wanted.token?.trim() || tokenFile(stateDir);
  const own = wanted.readOnlyToken?.trim();
  return {
    admin,
    read: own ? [own, readOnlyToken(admin)] : [readOnlyToken(admin)],
    cookie: derived(admin, "cookie"),
    cookieName: `herdctl-${port}`,
  };
}

/** It follows from the token and does not lead back to it, so that it needs no place of its own. */
export function readOnlyToken(token: string): string {
  return `read-${derived(token, "read-only").toString("base64url")}`;
}

/** In a time that does not tell how much of it was right. */
export function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function derived(token: string, purpose: string): Buffer {
  return createHmac("sha256", token).update(`herdctl ${purpose}`).digest();
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
