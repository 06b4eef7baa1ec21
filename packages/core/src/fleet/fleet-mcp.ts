import type { Allowance } from "../config/allowances.ts";
import { type Environment, readEnvironment } from "../config/environment.ts";
import type { LoadedFleet } from "../config/load.ts";

export interface McpFrame {
  /** The environment that the fleet was started with. */
  env: Environment;
  config(): LoadedFleet;
}

/** How the fleet may be used as tools over its port, by the configuration in force. */
export class FleetMcp {
  constructor(private readonly frame: McpFrame) {}

  /** Undefined when it may not. */
  get address(): { host: string; port: number } | undefined {
    const { server } = this.frame.config().fleet;
    return server.mcp && server;
  }

  get allow(): readonly Allowance[] {
    return this.frame.config().fleet.server.mcp?.allow ?? [];
  }

  /** Names under which it may be asked for. */
  get hosts(): readonly string[] {
    const { host, mcp } = this.frame.config().fleet.server;
    return [host, ...(mcp?.hosts ?? [])];
  }

  get tokenVariable(): string | undefined {
    return this.frame.config().fleet.server.mcp?.token_env;
  }

  /** Read anew each time, so that a changed `.env` counts at once. */
  get token(): string | undefined {
    const { fleet } = this.frame.config();
    const name = fleet.server.mcp?.token_env;
    return name && readEnvironment(fleet.dir, this.frame.env)[name];
  }
}
