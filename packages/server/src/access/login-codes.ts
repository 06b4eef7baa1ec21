import { createHash, randomBytes } from "node:crypto";
import type { Scope } from "@herdctl/core";

const lifetimeMs = 10 * 60_000;
const maxOpen = 100;

export interface LoginGrant {
  scope: Scope;
  /** The identity that asked for the link. */
  by: string;
}

/** Codes that let one browser in, once. They are kept by their hash, in this process only. */
export class LoginCodes {
  readonly #open = new Map<string, { grant: LoginGrant; ends: number }>();

  make(grant: LoginGrant, now: Date): { code: string; expires: Date } {
    const code = randomBytes(32).toString("base64url");
    const ends = now.getTime() + lifetimeMs;
    this.#forget(now);
    this.#open.set(hashOf(code), { grant, ends });
    return { code, expires: new Date(ends) };
  }

  /** What the code opens; never again afterwards. */
  redeem(code: string, now: Date): LoginGrant | undefined {
    const name = hashOf(code);
    const found = this.#open.get(name);
    this.#open.delete(name);
    return found && found.ends > now.getTime() ? found.grant : undefined;
  }

  #forget(now: Date): void {
    for (const [name, { ends }] of this.#open) {
      if (ends <= now.getTime() || this.#open.size >= maxOpen) this.#open.delete(name);
    }
  }
}

function hashOf(code: string): string {
  return createHash("sha256").update(code).digest("base64url");
}
