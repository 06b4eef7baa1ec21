import { createHash, randomBytes } from "node:crypto";
import type { Scope } from "@herdctl/protocol";

const codeLifetimeMs = 10 * 60_000;
const maxPendingCodes = 100;

export interface LoginGrant {
  scope: Scope;
  /** The identity that requested the link. */
  createdBy: string;
}

/** One-time login codes, stored as hashes in this process only. */
export class LoginCodes {
  readonly #pendingCodes = new Map<string, { grant: LoginGrant; expiresAtMs: number }>();

  create(grant: LoginGrant, now: Date): { code: string; expiresAt: Date } {
    const code = randomBytes(32).toString("base64url");
    const expiresAtMs = now.getTime() + codeLifetimeMs;
    this.#removeExpired(now);
    this.#pendingCodes.set(hashCode(code), { grant, expiresAtMs });
    return { code, expiresAt: new Date(expiresAtMs) };
  }

  /** Returns the grant of a code and invalidates the code. */
  redeem(code: string, now: Date): LoginGrant | undefined {
    const hash = hashCode(code);
    const pending = this.#pendingCodes.get(hash);
    // defence: login-code-single-use
    this.#pendingCodes.delete(hash);
    return pending && pending.expiresAtMs > now.getTime() ? pending.grant : undefined;
  }

  #removeExpired(now: Date): void {
    for (const [hash, { expiresAtMs }] of this.#pendingCodes) {
      if (expiresAtMs <= now.getTime() || this.#pendingCodes.size >= maxPendingCodes)
        this.#pendingCodes.delete(hash);
    }
  }
}

function hashCode(code: string): string {
  return createHash("sha256").update(code).digest("base64url");
}
