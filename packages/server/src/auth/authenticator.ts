import type { IncomingHttpHeaders } from "node:http";
import type { FleetManager } from "@herdctl/core";
import { identities } from "@herdctl/core/internal";
import { type Scope, UserError } from "@herdctl/protocol";
import { AuthFailureCounter } from "./auth-failure-counter.ts";
import { type AuthSecrets, isEqualSecret, readAuthSecrets } from "./auth-secrets.ts";
import { parseBearerToken } from "./bearer-token.ts";
import type { Caller } from "./caller.ts";
import { LoginCodes } from "./login-codes.ts";
import { findOriginViolation, type OwnHost } from "./origin-check.ts";
import { createExpiredCookie, createSessionCookie, verifySessionCookie } from "./session-cookie.ts";

export interface LoginLink {
  url: string;
  expires_at: string;
}

type Headers = IncomingHttpHeaders;

/** Authenticates requests on the HTTP port. */
export class Authenticator {
  readonly #codes = new LoginCodes();
  readonly #failures = new AuthFailureCounter();
  #state: { secrets: AuthSecrets; ownHost: OwnHost; url: string } | undefined;

  constructor(private readonly fleet: Pick<FleetManager, "http" | "access">) {}

  /** Called when the server listens on this port. */
  enable(port: number, url: string): void {
    const { serverOptions, stateDir } = this.fleet.http;
    this.#state = {
      secrets: readAuthSecrets(serverOptions, stateDir, port),
      ownHost: serverOptions,
      url,
    };
  }

  disable(): void {
    this.#state = undefined;
  }

  /** The code is in the URL fragment, which browsers do not send to servers. */
  createLoginLink(scope: Scope, by: string): LoginLink | undefined {
    if (!this.#state) return undefined;
    const { code, expiresAt } = this.#codes.create({ scope, createdBy: by }, new Date());
    return { url: `${this.#state.url}/login#${code}`, expires_at: expiresAt.toISOString() };
  }

  /** Must run before any other check. */
  checkOrigin(headers: Headers, request: { method: string; isPage: boolean }): void {
    const reason = findOriginViolation(headers, this.#activeState.ownHost, request);
    if (reason !== undefined) throw new UserError("foreign_request", reason);
  }

  /** Returns the caller. If the request has an invalid token, a valid cookie does not help. */
  async authenticate(headers: Headers, method: string, address: string): Promise<Caller> {
    if (headers.authorization !== undefined) {
      return this.#authenticateByToken(parseBearerToken(headers.authorization) ?? "", address);
    }
    const caller = await this.#authenticateByCookie(headers.cookie, address);
    if (!caller) throw new UserError("token_missing", "not signed in");
    // Requests with a cookie that change something must prove that they come from our own page.
    const isReading = method === "GET" || method === "HEAD";
    if (!isReading && headers.origin === undefined) {
      throw new UserError(
        "foreign_request",
        "requests with a session cookie must send an `Origin` header",
      );
    }
    return caller;
  }

  /** Whether the caller's credential is still valid; checked while a stream is open. */
  async isStillAuthorized({ credential }: Caller): Promise<boolean> {
    const { access } = this.fleet;
    if (credential.kind === "token") return access.isTokenValid(credential.name);
    if (credential.kind === "login") return (await access.findLogin(credential.id)) !== undefined;
    return true;
  }

  /** Exchanges a login code for a new session cookie. */
  async login(code: string, headers: Headers, address: string): Promise<string> {
    const { secrets } = this.#activeState;
    const grant = this.#codes.redeem(code, new Date());
    if (!grant) throw await this.#recordFailure("login.create", address);
    const { scope, createdBy } = grant;
    const user_agent = headers["user-agent"] ?? null;
    const login = await this.fleet.access.signIn({
      scope,
      link_created_by: createdBy,
      address,
      user_agent,
    });
    const isSecure = headers.origin?.startsWith("https:") ?? false;
    return createSessionCookie(login, secrets, isSecure);
  }

  /** Ends the login on the server, so that a copy of the cookie becomes invalid too. */
  async logout(headers: Headers, address: string): Promise<string> {
    const { secrets } = this.#activeState;
    const caller = await this.#authenticateByCookie(headers.cookie, address);
    if (caller?.credential.kind === "login") {
      // defence: stored-sign-out
      await this.fleet.access.endLogin(caller.credential.id, caller.actor);
    }
    return createExpiredCookie(secrets);
  }

  // defence: valid-token-first
  async #authenticateByToken(token: string, origin: string): Promise<Caller> {
    const fleetScope = scopeOfFleetToken(token, this.#activeState.secrets);
    if (fleetScope !== undefined) {
      const actor = { identity: identities.token(fleetScope), origin };
      return { actor, scope: fleetScope, agents: null, credential: { kind: "fleet_token" } };
    }
    const named = await this.fleet.access.findToken(token);
    if (!named) throw await this.#recordFailure("token.use", origin);
    const { name, scope, agents } = named;
    const actor = { identity: identities.token(name), origin };
    return { actor, scope, agents, credential: { kind: "token", name } };
  }

  async #authenticateByCookie(
    cookie: string | undefined,
    origin: string,
  ): Promise<Caller | undefined> {
    const id = verifySessionCookie(cookie, this.#activeState.secrets);
    const login = id === undefined ? undefined : await this.fleet.access.findLogin(id);
    if (!login) return undefined;
    const actor = { identity: identities.login(login.id), origin };
    return { actor, scope: login.scope, agents: null, credential: { kind: "login", id: login.id } };
  }

  /** Only failures are counted: a valid token or link is never refused because of others' failures. */
  async #recordFailure(action: "login.create" | "token.use", origin: string): Promise<UserError> {
    const error = "token_wrong" as const;
    await this.fleet.access.recordFailedAuthentication({ action, origin, error });
    if (this.#failures.count(origin, new Date())) {
      return new UserError("too_many_failures", "too many failed attempts from this address");
    }
    return action === "token.use"
      ? new UserError(error, "invalid token")
      : new UserError(error, "this link has expired or has already been used");
  }

  get #activeState() {
    if (this.#state) return this.#state;
    throw new UserError("fleet_unreachable", "the fleet is stopping");
  }
}

/** Always compares all tokens, so that the response time reveals nothing. */
function scopeOfFleetToken(
  token: string,
  { adminToken, readTokens }: AuthSecrets,
): "admin" | "read" | undefined {
  const isReadToken = readTokens
    .map((readToken) => isEqualSecret(token, readToken))
    .some((isEqual) => isEqual);
  return isEqualSecret(token, adminToken) ? "admin" : isReadToken ? "read" : undefined;
}
