import { type Environment, type LoadedFleet, readEnvironment } from "@herdctl/config";
import type { FleetProblems } from "../lib/fleet-problems.ts";
import { canUseAnyPort } from "../triggers/webhooks/webhook-schedule.ts";

export interface FleetHttpOptionsDeps {
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

  /** The tokens are read again from the environment file each time. */
  get serverOptions(): HttpServerOptions {
    const config = this.deps.config();
    const { fleet } = config;
    const {
      host,
      port,
      allowed_hosts: allowedHosts,
      token_env,
      read_only_token_env,
    } = fleet.server;
    const environment = readEnvironment(fleet.dir, this.deps.env);
    return {
      host,
      port,
      canUseAnyPort: canUseAnyPort(config),
      allowedHosts,
      token: token_env && (environment[token_env] ?? ""),
      readOnlyToken: read_only_token_env && (environment[read_only_token_env] ?? ""),
    };
  }

  /** Reports why the server cannot be reached; undefined if it can. */
  reportProblem(message: string | undefined): void {
    this.deps.problems.set("port", message);
  }
}
