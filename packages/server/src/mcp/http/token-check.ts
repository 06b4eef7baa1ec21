import type { IncomingMessage } from "node:http";
import { type FleetMcp, UserError } from "@herdctl/core";
import { bearerToken } from "../../access/bearer-token.ts";
import { Failures } from "../../access/failures.ts";
import { isSame } from "../../access/keys.ts";

/** Lets through who brings the token of `/mcp`. Wrong ones are counted apart from those of the API. */
export class TokenCheck {
  readonly #failures = new Failures();

  constructor(private readonly mcp: Pick<FleetMcp, "token" | "tokenVariable">) {}

  admit({ headers, socket }: Pick<IncomingMessage, "headers" | "socket">): void {
    const { token, tokenVariable } = this.mcp;
    const { authorization = "" } = headers;
    const hint = `Send \`Authorization: Bearer\` with the token in ${tokenVariable}.`;
    if (authorization === "") throw new UserError("token_missing", "no token was sent", { hint });
    const now = new Date();
    const address = socket.remoteAddress ?? "";
    if (this.#failures.isTooMany(address, now)) {
      throw new UserError("too_many_failures", "too many wrong tokens came from there");
    }
    if (isSame(bearerToken(authorization) ?? "", token)) return;
    this.#failures.count(address, now);
    throw new UserError("token_wrong", "this token does not fit", { hint });
  }
}
