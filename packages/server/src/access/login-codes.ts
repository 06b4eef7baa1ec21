import { createHash, randomBytes } from "node:crypto";
import type { Scope } from "./visitor.ts";

const lifetime = 10 * 60_000;
const mostAtOnce = 100;

/** Codes that let one browser in, once. They are known to this process only, and only by their digest. */
export class LoginCodes {
  readonly #open = new Map<string, { scope: Scope; ends: number }>();

  make(scope: Scope, now: Date): { code: string; expires: Date } {
    const code = randomBytes(32).toString("base64url");
    const ends = now.getTime() + lifetime;
    this.#forget(now);
    this.#open.set(digest(code), { scope, ends });
    return { code, expires: new Date(ends) };
  }

  /** What the code opens; never again afterwards. */
  redeem(code: string, now: Date): Scope | undefined {
    const name = digest(code);
    const found = this.#open.get(name);
    this.#open.delete(name);
    return found && found.ends > now.getTime() ? found.scope : undefined;
  }

  #forget(now: Date): void {
    for (const [name, { ends }] of this.#open) {
      if (ends <= now.getTime() || this.#open.size >= mostAtOnce) this.#open.delete(name);
    }
  }
}

function digest(code: string): string {
  return createHash("sha256").update(code).digest("base64url");
}
