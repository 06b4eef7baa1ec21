import type { IncomingMessage } from "node:http";
import { type FleetManager, identities, UserError } from "@herdctl/core";
import { bearerToken } from "../../access/bearer-token.ts";
import { Failures } from "../../access/failures.ts";
import { isSame } from "../../access/keys.ts";
import type { Visitor } from "../../access/visitor.ts";

/** Admits the token of `server.mcp`, which opens nothing else, and tokens that were created by name. */
export class TokenCheck {
  readonly #failures = new Failures();

  constructor(private readonly fleet: Pick<FleetManager, "mcp" | "access">) {}

  async admit({ headers, socket }: Pick<IncomingMessage, "headers" | "socket">): Promise<Visitor> {
    const { mcp, access } = this.fleet;
    const { authorization = "" } = headers;
    const hint = `Send \`Authorization: Bearer\` with the token in ${mcp.tokenVariable}, or with one of \`herdctl token create\`.`;
    if (authorization === "") throw new UserError("token_missing", "no token was sent", { hint });
    const origin = socket.remoteAddress ?? "";
    const token = bearerToken(authorization) ?? "";
    if (isSame(token, mcp.token)) {
      const actor = { identity: identities.token("mcp"), origin };
      return { actor, scope: "admin", agents: null, credential: { kind: "fleet_token" } };
    }
    const named = await access.findToken(token);
    if (named) {
      const { name, scope, agents } = named;
      const actor = { identity: identities.token(name), origin };
      return { actor, scope, agents, credential: { kind: "token", name } };
    }
    access.failed({ action: "token.use", origin, error: "token_wrong" });
    if (this.#failures.count(origin, new Date())) {
      throw new UserError("too_many_failures", "too many wrong tokens came from there");
    }
    throw new UserError("token_wrong", "this token does not fit", { hint });
  }
}
