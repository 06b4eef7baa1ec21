import type { IncomingHttpHeaders } from "node:http";
import { type FleetManager, identities, type Scope, UserError } from "@herdctl/core";
import { bearerToken } from "./bearer-token.ts";
import { emptyCookie, openCookie, sealCookie } from "./cookie.ts";
import { Failures } from "./failures.ts";
import { isSame, type Keys, keysOf } from "./keys.ts";
import { LoginCodes } from "./login-codes.ts";
import { type Called, foreignBecause } from "./own-host.ts";
import type { Visitor } from "./visitor.ts";

export interface LoginLink {
  url: string;
  expires_at: string;
}

type Headers = IncomingHttpHeaders;

/** Who may come in by the port, and as what. */
export class Access {
  readonly #codes = new LoginCodes();
  readonly #failures = new Failures();
  #open: { keys: Keys; called: Called; url: string } | undefined;

  constructor(private readonly fleet: Pick<FleetManager, "port" | "access">) {}

  /** From now on, where a fleet listens at this port. */
  open(port: number, url: string): void {
    const { wanted, stateDir } = this.fleet.port;
    this.#open = { keys: keysOf(wanted, stateDir, port), called: wanted, url };
  }

  close(): void {
    this.#open = undefined;
  }

  /** The code stands behind the `#`, which a browser sends to nobody. */
  loginLink(scope: Scope, by: string): LoginLink | undefined {
    if (!this.#open) return undefined;
    const { code, expires } = this.#codes.make({ scope, by }, new Date());
    return { url: `${this.#open.url}/login#${code}`, expires_at: expires.toISOString() };
  }

  /** Before anything else is looked at. */
  checkOrigin(headers: Headers, request: { method: string; isPage: boolean }): void {
    const reason = foreignBecause(headers, this.#opened.called, request);
    if (reason !== undefined) throw new UserError("foreign_request", reason);
  }

  /** Who asks. A wrong token is not made good by a cookie. */
  async admit(headers: Headers, method: string, address: string): Promise<Visitor> {
    if (headers.authorization !== undefined) {
      return this.#admitByToken(bearerToken(headers.authorization) ?? "", address);
    }
    const visitor = await this.#admitByCookie(headers.cookie, address);
    if (!visitor) throw new UserError("token_missing", "nobody is signed in here");
    // What changes something by a cookie must say that it comes from our own page.
    const isReading = method === "GET" || method === "HEAD";
    if (!isReading && headers.origin === undefined) {
      throw new UserError("foreign_request", "a request by cookie must tell its origin");
    }
    return visitor;
  }

  /** Whether whoever was let in would be let in again; asked while a stream goes on. */
  async isStillAdmitted({ credential }: Visitor): Promise<boolean> {
    const { access } = this.fleet;
    if (credential.kind === "token") return access.isTokenValid(credential.name);
    if (credential.kind === "login") return (await access.findLogin(credential.id)) !== undefined;
    return true;
  }

  /** A cookie for whoever brings a code; always a new one, whatever was brought. */
  async login(code: string, headers: Headers, address: string): Promise<string> {
    const { keys } = this.#opened;
    const grant = this.#codes.redeem(code, new Date());
    if (!grant) throw this.#failed("login.create", address);
    const { scope, by: link_by } = grant;
    const user_agent = headers["user-agent"] ?? null;
    const login = await this.fleet.access.signIn({ scope, link_by, address, user_agent });
    const isSecure = headers.origin?.startsWith("https:") ?? false;
    return sealCookie(login, keys, isSecure);
  }

  /** Ends the login, so that a copy of the cookie is worth nothing either. */
  async logout(headers: Headers, address: string): Promise<string> {
    const { keys } = this.#opened;
    const visitor = await this.#admitByCookie(headers.cookie, address);
    if (visitor?.credential.kind === "login") {
      await this.fleet.access.endLogin(visitor.credential.id, visitor.actor);
    }
    return emptyCookie(keys);
  }

  async #admitByToken(token: string, origin: string): Promise<Visitor> {
    const fixed = fixedScope(token, this.#opened.keys);
    if (fixed !== undefined) {
      const actor = { identity: identities.token(fixed), origin };
      return { actor, scope: fixed, agents: null, credential: { kind: "fleet_token" } };
    }
    const named = await this.fleet.access.findToken(token);
    if (!named) throw this.#failed("token.use", origin);
    const { name, scope, agents } = named;
    const actor = { identity: identities.token(name), origin };
    return { actor, scope, agents, credential: { kind: "token", name } };
  }

  async #admitByCookie(cookie: string | undefined, origin: string): Promise<Visitor | undefined> {
    const id = openCookie(cookie, this.#opened.keys);
    const login = id === undefined ? undefined : await this.fleet.access.findLogin(id);
    if (!login) return undefined;
    const actor = { identity: identities.login(login.id), origin };
    return { actor, scope: login.scope, agents: null, credential: { kind: "login", id: login.id } };
  }

  /** Only what is wrong is counted: a right token or link is never refused for what others sent. */
  #failed(action: "login.create" | "token.use", origin: string): UserError {
    const error = "token_wrong" as const;
    this.fleet.access.failed({ action, origin, error });
    if (this.#failures.count(origin, new Date())) {
      return new UserError("too_many_failures", "too many wrong tokens came from there");
    }
    return action === "token.use"
      ? new UserError(error, "this token does not fit")
      : new UserError(error, "this link has been used, or is too old");
  }

  get #opened() {
    if (this.#open) return this.#open;
    throw new UserError("fleet_unreachable", "the fleet is stopping");
  }
}

/** All are compared, whichever fits: the time it takes tells nothing. */
function fixedScope(token: string, { admin, read }: Keys): "admin" | "read" | undefined {
  const mayRead = read.map((one) => isSame(token, one)).some((same) => same);
  return isSame(token, admin) ? "admin" : mayRead ? "read" : undefined;
}
