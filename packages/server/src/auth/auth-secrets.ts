import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { HttpServerOptions } from "@herdctl/core/internal";
import { readOrCreateToken } from "./token-file.ts";

/** The built-in tokens of a fleet, besides named tokens. None of them is blank. */
export interface AuthSecrets {
  adminToken: string;
  readTokens: string[];
  /** Signs cookies. It is derived from the admin token, so changing that token signs out all browsers. */
  cookieKey: Buffer;
  /** Includes the port, because browsers send cookies to all ports of a host. */
  cookieName: string;
}

export function readAuthSecrets(
  config: HttpServerOptions,
  stateDir: string,
  port: number,
): AuthSecrets {
  const admin = config.token?.trim() || readOrCreateToken(stateDir);
  const configuredReadToken = config.readOnlyToken?.trim();
  return {
    adminToken: admin,
    readTokens: configuredReadToken
      ? [configuredReadToken, deriveReadOnlyToken(admin)]
      : [deriveReadOnlyToken(admin)],
    cookieKey: deriveKey(admin, "cookie"),
    cookieName: `herdctl-${port}`,
  };
}

/** Derived from the admin token with a one-way function, so it needs no storage. */
export function deriveReadOnlyToken(token: string): string {
  return `read-${deriveKey(token, "read-only").toString("base64url")}`;
}

/** Compares in constant time. */
export function isEqualSecret(actual: string, expected: string): boolean {
  // defence: whole-token
  return timingSafeEqual(sha256(actual), sha256(expected));
}

function deriveKey(token: string, purpose: string): Buffer {
  return createHmac("sha256", token).update(`herdctl ${purpose}`).digest();
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
