import type { Allowance } from "../config/allowances.ts";
import { type Environment, readEnvironment } from "../config/environment.ts";
import type { LoadedFleet } from "../config/load.ts";
import { wrongToken } from "../config/server-tokens.ts";
import { UserError } from "../errors/user-error.ts";

export interface McpFrame {
  /** The environment that the fleet was started with. */
  env: Environment;
  config(): LoadedFleet;
}

/** How the fleet may be used as tools over its port, by the configuration in force. */
export class FleetMcp {
  constructor(private readonly frame: McpFrame) {}

  get isOpen(): boolean {
    return this.frame.config().fleet.server.mcp !== undefined;
  }

  get allow(): readonly Allowance[] {
    return this.frame.config().fleet.server.mcp?.allow ?? [];
  }

  /** The variable that holds the token. */
  get tokenVariable(): string {
    return this.frame.config().fleet.server.mcp?.token_env ?? "";
  }

  /** Read anew each time, so that a changed `.env` counts at once; none that can keep no door. */
  get token(): string {
    const name = this.tokenVariable;
    const token = readEnvironment(this.frame.config().fleet.dir, this.frame.env)[name] ?? "";
    const wrong = wrongToken(name, token);
    if (!wrong) return token.trim();
    throw new UserError("secret_missing", wrong.message, { hint: wrong.hint });
  }
}
