import { randomBytes } from "node:crypto";
import {
  type AccessToken,
  type CreatedToken,
  type Login,
  type NewAccessToken,
  UserError,
} from "@herdctl/protocol";
import { accessTokenSchema, tokenPrefix } from "@herdctl/protocol/schemas";
import { type Actor, identities, reservedTokenNames } from "../store/model/identity.ts";
import { hashToken, newTokenSecret } from "../store/sql/access-store.ts";
import type { StateManager } from "../store/state-manager.ts";
import {
  type AuditLogWriter,
  createAuditEntry,
  type FailedAuthentication,
} from "./audit-log-writer.ts";

interface FleetAccessDeps {
  audit: AuditLogWriter;
  state(): StateManager;
  agentNames(): readonly string[];
  reportError(message: string, cause?: unknown): void;
}

const loginLifetimeMs = 30 * 24 * 60 * 60_000;
const maxUserAgentLength = 200;
/** Precision of `last_used_at`, so that not every request causes a write. */
const lastUsedPrecisionMs = 60_000;

/** Named tokens and browser logins, for the server that authenticates requests. */
export class FleetAccess {
  private readonly lastUsed = new Map<string, number>();

  constructor(private readonly deps: FleetAccessDeps) {}

  /** The token with this secret; undefined if there is none or it has expired. */
  async findToken(secret: string): Promise<AccessToken | undefined> {
    if (!secret.startsWith(tokenPrefix)) return undefined;
    const token = await this.deps.state().tokens.findByHash(hashToken(secret));
    if (!token || hasExpired(token.expires_at)) return undefined;
    this.recordUse(token.name);
    return token;
  }

  /** Whether a token that authenticated a request is still valid. */
  async isTokenValid(name: string): Promise<boolean> {
    const token = await this.deps.state().tokens.get(name);
    return token !== undefined && !hasExpired(token.expires_at);
  }

  tokens(): Promise<AccessToken[]> {
    return this.deps.state().tokens.list();
  }

  async createToken(newToken: NewAccessToken, actor: Actor): Promise<CreatedToken> {
    const { name, scope } = newToken;
    const agents = this.validateNewToken(newToken);
    const token = {
      name,
      scope,
      agents,
      created_at: new Date().toISOString(),
      created_by: actor.identity,
      expires_at: newToken.expires_at ?? null,
      last_used_at: null,
    };
    const details = { scope, agents: agents?.join(", ") ?? null, expires_at: token.expires_at };
    const audit = createAuditEntry(actor, { action: "token.create", target: name, details });
    const secret = newTokenSecret();
    const created = await this.deps.state().tokens.create(token, hashToken(secret), audit);
    return { token: created, secret };
  }

  async revokeToken(name: string, actor: Actor): Promise<void> {
    const audit = createAuditEntry(actor, { action: "token.revoke", target: name });
    if (await this.deps.state().tokens.revoke(name, audit)) return;
    throw new UserError("token_not_found", `there is no token \`${name}\``);
  }

  logins(): Promise<Login[]> {
    return this.deps.state().logins.list();
  }

  /** Undefined if the login was ended or has expired. */
  async findLogin(id: string): Promise<Login | undefined> {
    const login = await this.deps.state().logins.get(id);
    return login && !hasExpired(login.expires_at) ? login : undefined;
  }

  signIn(
    newLogin: Pick<Login, "scope" | "address" | "user_agent" | "link_created_by">,
  ): Promise<Login> {
    const now = Date.now();
    const id = randomBytes(12).toString("hex");
    const login = {
      ...newLogin,
      id,
      user_agent: newLogin.user_agent?.slice(0, maxUserAgentLength) ?? null,
      signed_in_at: new Date(now).toISOString(),
      expires_at: new Date(now + loginLifetimeMs).toISOString(),
    };
    const actor = { identity: identities.login(id), origin: newLogin.address };
    const { scope, link_created_by } = newLogin;
    const audit = createAuditEntry(actor, {
      action: "login.create",
      details: { scope, link_created_by },
    });
    return this.deps.state().logins.create(login, audit);
  }

  /** Ends a login by its id, or by the part of the id that identities show. */
  async endLogin(id: string, actor: Actor): Promise<void> {
    const isId = /^[0-9a-f]{8,24}$/.test(id);
    const target = isId ? identities.login(id) : id;
    const audit = createAuditEntry(actor, { action: "login.end", target });
    if (isId && (await this.deps.state().logins.revoke(id, audit)) > 0) return;
    throw new UserError("login_not_found", `there is no login \`${target}\``);
  }

  endAllLogins(actor: Actor): Promise<number> {
    return this.deps.state().logins.revokeAll(createAuditEntry(actor, { action: "login.end_all" }));
  }

  /** Records a request that failed to authenticate. */
  recordFailedAuthentication(attempt: FailedAuthentication): Promise<void> {
    return this.deps.audit.recordFailedAuthentication(attempt);
  }

  private validateNewToken({ name, scope, agents, expires_at }: NewAccessToken): string[] | null {
    if (!accessTokenSchema.shape.name.safeParse(name).success) {
      throw new UserError("usage", `\`${name}\` cannot be the name of a token`, {
        hint: "Use up to 64 lower-case letters, digits, dots, dashes and underscores.",
      });
    }
    if (hasExpired(expires_at ?? null)) {
      throw new UserError("usage", "the expiry of the token is in the past");
    }
    if (reservedTokenNames.includes(name)) {
      throw new UserError("usage", `\`${name}\` is a reserved token name`, {
        hint: "Choose another name.",
      });
    }
    if (agents === undefined || agents.length === 0) return null;
    if (scope === "admin") {
      throw new UserError("usage", "a token with the scope `admin` always applies to all agents", {
        hint: "Omit `--agent`, or choose the scope read, trigger or answer.",
      });
    }
    const unknown = agents.find((agent) => !this.deps.agentNames().includes(agent));
    if (unknown === undefined) return [...new Set(agents)];
    throw new UserError("agent_not_found", `there is no agent \`${unknown}\``);
  }

  private recordUse(name: string): void {
    const now = Date.now();
    if (now - (this.lastUsed.get(name) ?? 0) < lastUsedPrecisionMs) return;
    this.lastUsed.set(name, now);
    void this.deps
      .state()
      .tokens.recordUse(name, new Date(now))
      .catch((error) => this.deps.reportError("Failed to record the use of a token", error));
  }
}

function hasExpired(expires_at: string | null): boolean {
  return expires_at !== null && Date.parse(expires_at) <= Date.now();
}
