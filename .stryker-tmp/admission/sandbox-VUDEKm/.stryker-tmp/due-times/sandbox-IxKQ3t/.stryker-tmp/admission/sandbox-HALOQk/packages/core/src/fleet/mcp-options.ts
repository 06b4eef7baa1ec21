import {
  type Environment,
  findTokenProblem,
  type LoadedFleet,
  readEnvironment,
} from "@herdctl/config";
import { type Allowance, UserError } from "@herdctl/protocol";

export interface FleetMcpOptionsDeps {
  /** The environment that the fleet was started with. */
  env: Environment;
  config(): LoadedFleet;
}

/** Settings of the fleet's MCP endpoint, from the configuration in force. */
export class FleetMcpOptions {
  constructor(private readonly deps: FleetMcpOptionsDeps) {}

  get isEnabled(): boolean {
    return this.deps.config().fleet.server.mcp !== undefined;
  }

  get allow(): readonly Allowance[] {
    return this.deps.config().fleet.server.mcp?.allow ?? [];
  }

  /** The environment variable with the token. */
  get tokenVariable(): string {
    return this.deps.config().fleet.server.mcp?.token_env ?? "";
  }

  /**
   * Read again each time, so that a changed `.env` takes effect immediately. Throws if the token
   * cannot be used.
   */
  get token(): string {
    const name = this.tokenVariable;
    const token = readEnvironment(this.deps.config().fleet.dir, this.deps.env)[name] ?? "";
    const problem = findTokenProblem(name, token);
    if (!problem) return token.trim();
    throw new UserError("secret_missing", problem.message, { hint: problem.hint });
  }
}
