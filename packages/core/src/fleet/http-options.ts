import {
  type Environment,
  findTokenProblem,
  type LoadedFleet,
  readEnvironment,
} from "@herdctl/config";
import { type Allowance, UserError } from "@herdctl/protocol";
import type { FleetProblems } from "../lib/fleet-problems.ts";
import { canUseAnyPort } from "../triggers/webhooks/webhook-schedule.ts";

interface FleetHttpOptionsDeps {
  /** The environment that the fleet was started with. */
  env: Environment;
  problems: FleetProblems;
  config(): LoadedFleet;
}

/** Settings of the fleet's HTTP server. */
export interface HttpServerOptions {
  host: string;
  port: number;
  /** No port is configured and no other program depends on it, so any free port will do. */
  canUseAnyPort: boolean;
  /**
   * Host names under which the server may be reached, besides its address. Webhooks may use any.
   */
  allowedHosts: readonly string[];
  /** The user's own token; undefined if none is configured. */
  token: string | undefined;
  readOnlyToken: string | undefined;
}

/** Settings of the fleet's HTTP server, for the program that starts it. */
export class FleetHttpOptions {
  url: string | null = null;

  constructor(private readonly deps: FleetHttpOptionsDeps) {}

  get stateDir(): string {
    return this.deps.config().fleet.stateDir;
  }

  /** The URL for links in messages; null if there is none and the server is not listening. */
  get publicUrl(): string | null {
    return this.deps.config().fleet.server.public_url ?? this.url;
  }

  /** The tokens are read again from the environment file each time. */
  get serverOptions(): HttpServerOptions {
    const config = this.deps.config();
    const { fleet } = config;
    const { host, port, allowed_hosts, public_url, token_env, read_only_token_env } = fleet.server;
    const environment = readEnvironment(fleet.dir, this.deps.env);
    return {
      host,
      port,
      canUseAnyPort: canUseAnyPort(config),
      allowedHosts:
        public_url === undefined
          ? allowed_hosts
          : [...new Set([...allowed_hosts, new URL(public_url).hostname])],
      token: token_env && (environment[token_env] ?? ""),
      readOnlyToken: read_only_token_env && (environment[read_only_token_env] ?? ""),
    };
  }

  /** Reports why the server cannot be reached; undefined if it can. */
  reportProblem(message: string | undefined): void {
    this.deps.problems.set("port", message);
  }
}

interface FleetMcpOptionsDeps {
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
