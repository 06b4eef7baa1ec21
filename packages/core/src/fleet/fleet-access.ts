import { randomBytes } from "node:crypto";
import { UserError } from "../errors/user-error.ts";
import {
  type AccessToken,
  accessTokenSchema,
  hashToken,
  newTokenSecret,
  tokenPrefix,
} from "../state/access-token.ts";
import { type Actor, identities, reservedTokenNames } from "../state/identity.ts";
import type { Login } from "../state/login.ts";
import type { Scope } from "../state/scopes.ts";
import type { StateManager } from "../state/state-manager.ts";
import { type Audit, auditEntry, type FailedAttempt } from "./audit.ts";

export interface NewAccessToken {
  name: string;
  scope: Scope;
  /** Only these agents. */
  agents?: readonly string[];
  /** An ISO 8601 time; without one the token is good until it is revoked. */
  expires_at?: string;
}

export interface CreatedToken {
  token: AccessToken;
  /** Nowhere else: it cannot be shown again. */
  secret: string;
}

export interface AccessFrame {
  audit: Audit;
  state(): StateManager;
  agentNames(): readonly string[];
  trouble(message: string, cause?: unknown): void;
}

const loginLifetimeMs = 30 * 24 * 60 * 60_000;
const maxUserAgentLength = 200;
/** How exact `last_used_at` is: not every request is worth a write. */
const lastUsedPrecisionMs = 60_000;

/** Tokens with a name and browsers that are signed in, for whoever lets requests in. */
export class FleetAccess {
  readonly #frame: AccessFrame;
  readonly #lastUsed = new Map<string, number>();

  constructor(frame: AccessFrame) {
    this.#frame = frame;
  }

  /** The token with this secret, unless there is none, or it has expired. */
  async findToken(secret: string): Promise<AccessToken | undefined> {
    if (!secret.startsWith(tokenPrefix)) return undefined;
    const token = await this.#frame.state().tokens.find(hashToken(secret));
    if (!token || isOver(token.expires_at)) return undefined;
    this.#noteUse(token.name);
    return token;
  }

  /** Whether a token that let a request in would still do so. */
  async isTokenValid(name: string): Promise<boolean> {
    const token = await this.#frame.state().tokens.get(name);
    return token !== undefined && !isOver(token.expires_at);
  }

  tokens(): Promise<AccessToken[]> {
    return this.#frame.state().tokens.list();
  }

  async createToken(wanted: NewAccessToken, actor: Actor): Promise<CreatedToken> {
    const { name, scope } = wanted;
    const agents = this.#checked(wanted);
    const token = {
      name,
      scope,
      agents,
      created_at: new Date().toISOString(),
      created_by: actor.identity,
      expires_at: wanted.expires_at ?? null,
      last_used_at: null,
    };
    const details = { scope, agents: agents?.join(", ") ?? null, expires_at: token.expires_at };
    const audit = auditEntry(actor, { action: "token.create", target: name, details });
    const secret = newTokenSecret();
    const created = await this.#frame.state().tokens.create(token, hashToken(secret), audit);
    return { token: created, secret };
  }

  async revokeToken(name: string, actor: Actor): Promise<void> {
    const audit = auditEntry(actor, { action: "token.revoke", target: name });
    if (await this.#frame.state().tokens.revoke(name, audit)) return;
    throw new UserError("token_not_found", `there is no token \`${name}\``);
  }

  logins(): Promise<Login[]> {
    return this.#frame.state().logins.list();
  }

  /** Undefined when it was signed out, or has expired. */
  async findLogin(id: string): Promise<Login | undefined> {
    const login = await this.#frame.state().logins.get(id);
    return login && !isOver(login.expires_at) ? login : undefined;
  }

  signIn(given: Pick<Login, "scope" | "address" | "user_agent" | "link_by">): Promise<Login> {
    const now = Date.now();
    const id = randomBytes(12).toString("hex");
    const login = {
      ...given,
      id,
      user_agent: given.user_agent?.slice(0, maxUserAgentLength) ?? null,
      signed_in_at: new Date(now).toISOString(),
      expires_at: new Date(now + loginLifetimeMs).toISOString(),
    };
    const actor = { identity: identities.login(id), origin: given.address };
    const { scope, link_by } = given;
    const audit = auditEntry(actor, { action: "login.create", details: { scope, link_by } });
    return this.#frame.state().logins.create(login, audit);
  }

  /** By its id, or by the part of it that identities show. */
  async endLogin(id: string, actor: Actor): Promise<void> {
    const isId = /^[0-9a-f]{8,24}$/.test(id);
    const target = isId ? identities.login(id) : id;
    const audit = auditEntry(actor, { action: "login.end", target });
    if (isId && (await this.#frame.state().logins.end(id, audit)) > 0) return;
    throw new UserError("login_not_found", `nobody is signed in as \`${target}\``);
  }

  endAllLogins(actor: Actor): Promise<number> {
    return this.#frame.state().logins.endAll(auditEntry(actor, { action: "login.end_all" }));
  }

  /** Someone tried to come in and could not show that they may. */
  failed(attempt: FailedAttempt): void {
    this.#frame.audit.failed(attempt);
  }

  #checked({ name, scope, agents, expires_at }: NewAccessToken): string[] | null {
    if (!accessTokenSchema.shape.name.safeParse(name).success) {
      throw new UserError("usage", `\`${name}\` cannot be the name of a token`, {
        hint: "Use up to 64 lower-case letters, digits, dots, dashes and underscores.",
      });
    }
    if (isOver(expires_at ?? null)) {
      throw new UserError("usage", "the token would have expired already");
    }
    if (reservedTokenNames.includes(name)) {
      throw new UserError("usage", `\`${name}\` names a token that the fleet has already`, {
        hint: "Choose another name.",
      });
    }
    if (agents === undefined || agents.length === 0) return null;
    if (scope === "admin") {
      throw new UserError("usage", "a token with the scope `admin` is for all agents", {
        hint: "Leave out `--agent`, or choose the scope read, trigger or answer.",
      });
    }
    const unknown = agents.find((agent) => !this.#frame.agentNames().includes(agent));
    if (unknown === undefined) return [...new Set(agents)];
    throw new UserError("usage", `there is no agent \`${unknown}\``);
  }

  #noteUse(name: string): void {
    const now = Date.now();
    if (now - (this.#lastUsed.get(name) ?? 0) < lastUsedPrecisionMs) return;
    this.#lastUsed.set(name, now);
    void this.#frame
      .state()
      .tokens.used(name, new Date(now))
      .catch((error) => this.#frame.trouble("Failed to record the use of a token", error));
  }
}

function isOver(expires_at: string | null): boolean {
  return expires_at !== null && Date.parse(expires_at) <= Date.now();
}
