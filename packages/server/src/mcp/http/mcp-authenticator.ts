import type { IncomingMessage } from "node:http";
import type { FleetManager } from "@herdctl/core";
import { identities } from "@herdctl/core/internal";
import { UserError } from "@herdctl/protocol";
import { AuthFailureCounter } from "../../auth/auth-failure-counter.ts";
import { isEqualSecret } from "../../auth/auth-secrets.ts";
import { parseBearerToken } from "../../auth/bearer-token.ts";
import type { Caller } from "../../auth/caller.ts";

/** Accepts the token of `server.mcp`, which is valid only here, and named tokens. */
export class McpAuthenticator {
  readonly #failures = new AuthFailureCounter();

  constructor(private readonly fleet: Pick<FleetManager, "mcp" | "access">) {}

  async authenticate({
    headers,
    socket,
  }: Pick<IncomingMessage, "headers" | "socket">): Promise<Caller> {
    const { mcp, access } = this.fleet;
    const { authorization = "" } = headers;
    const hint = `Send \`Authorization: Bearer\` with the token in ${mcp.tokenVariable}, or with a token from \`herdctl token create\`.`;
    if (authorization === "") throw new UserError("token_missing", "missing token", { hint });
    const origin = socket.remoteAddress ?? "";
    const token = parseBearerToken(authorization) ?? "";
    if (isEqualSecret(token, mcp.token)) {
      const actor = { identity: identities.token("mcp"), origin };
      return { actor, scope: "admin", agents: null, credential: { kind: "fleet_token" } };
    }
    const namedToken = await access.findToken(token);
    if (namedToken) {
      const { name, scope, agents } = namedToken;
      const actor = { identity: identities.token(name), origin };
      return { actor, scope, agents, credential: { kind: "token", name } };
    }
    await access.recordFailedAuthentication({ action: "token.use", origin, error: "token_wrong" });
    if (this.#failures.count(origin, new Date())) {
      throw new UserError("too_many_failures", "too many failed attempts from this address");
    }
    throw new UserError("token_wrong", "invalid token", { hint });
  }
}
