import type { IncomingHttpHeaders } from "node:http";
import { type FleetPort, UserError } from "@herdctl/core";
import { emptyCookie, openCookie, sealCookie } from "./cookie.ts";
import { Failures } from "./failures.ts";
import { identify } from "./identify.ts";
import { type Keys, keysOf } from "./keys.ts";
import { LoginCodes } from "./login-codes.ts";
import { type Called, foreignBecause } from "./own-host.ts";
import type { Scope, Visitor } from "./visitor.ts";

export interface LoginLink {
  url: string;
  expires_at: string;
}

type Headers = IncomingHttpHeaders;

/** Who may come in by the port, and as what. */
export class Access {
  readonly #codes = new LoginCodes();
  readonly #failures = new Failures();
  /** Cookies that were given back. */
  readonly #left = new Set<string>();
  #open: { keys: Keys; called: Called; url: string } | undefined;

  constructor(private readonly port: Pick<FleetPort, "wanted" | "stateDir">) {}

  /** From now on, where a fleet listens at this port. */
  open(port: number, url: string): void {
    const { wanted, stateDir } = this.port;
    this.#open = { keys: keysOf(wanted, stateDir, port), called: wanted, url };
  }

  close(): void {
    this.#open = undefined;
  }

  /** The code stands behind the `#`, which a browser sends to nobody. */
  loginLink(scope: Scope): LoginLink | undefined {
    if (!this.#open) return undefined;
    const { code, expires } = this.#codes.make(scope, new Date());
    return { url: `${this.#open.url}/login#${code}`, expires_at: expires.toISOString() };
  }

  /** Before anything else is looked at. */
  checkOrigin(headers: Headers, request: { method: string; isPage: boolean }): void {
    const reason = foreignBecause(headers, this.#opened.called, request);
    if (reason !== undefined) throw new UserError("foreign_request", reason);
  }

  /** Who asks. What changes something by a cookie must say that it comes from our own page. */
  admit(headers: Headers, method: string, address: string): Visitor {
    const { keys } = this.#opened;
    const now = new Date();
    const found = identify(headers, keys, now);
    if (found.kind === "nobody") throw new UserError("token_missing", "nobody is signed in here");
    if (found.kind === "wrong" || found.by === "token") this.#refuseGuessing(address, now);
    if (found.kind === "wrong") {
      this.#failures.count(address, now);
      throw new UserError("token_wrong", "this token does not fit");
    }
    const { visitor, by } = found;
    const isReading = method === "GET" || method === "HEAD";
    if (by === "cookie") this.#checkCookie(headers, keys, now, isReading);
    if (visitor.scope === "all" || isReading) return visitor;
    throw new UserError("read_only", "whoever is signed in like this may only look");
  }

  /** A cookie for whoever brings a code; always a new one, whatever was brought. */
  login(code: string, headers: Headers, address: string): string {
    const now = new Date();
    this.#refuseGuessing(address, now);
    const scope = this.#codes.redeem(code, now);
    if (scope) {
      const isSecure = headers.origin?.startsWith("https:") ?? false;
      return sealCookie(scope, this.#opened.keys, now, isSecure);
    }
    this.#failures.count(address, now);
    throw new UserError("token_wrong", "this link has been used, or is too old");
  }

  /** Also when somebody has kept a copy of the cookie. */
  logout(headers: Headers): string {
    const { keys } = this.#opened;
    const cookie = openCookie(headers.cookie, keys, new Date());
    if (cookie) this.#left.add(cookie.id);
    return emptyCookie(keys);
  }

  #checkCookie(headers: Headers, keys: Keys, now: Date, isReading: boolean): void {
    const cookie = openCookie(headers.cookie, keys, now);
    if (!cookie || this.#left.has(cookie.id)) {
      throw new UserError("token_missing", "nobody is signed in here");
    }
    if (!isReading && headers.origin === undefined) {
      throw new UserError("foreign_request", "a request by cookie must tell its origin");
    }
  }

  #refuseGuessing(address: string, now: Date): void {
    if (!this.#failures.isTooMany(address, now)) return;
    throw new UserError("too_many_failures", "too many wrong tokens came from there");
  }

  get #opened() {
    if (this.#open) return this.#open;
    throw new UserError("fleet_unreachable", "the fleet is stopping");
  }
}
