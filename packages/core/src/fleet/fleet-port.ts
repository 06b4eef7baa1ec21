import { type Environment, readEnvironment } from "../config/environment.ts";
import type { LoadedFleet } from "../config/load.ts";
import { isAnyPortGood } from "../triggers/webhook/any-port.ts";
import type { Problems } from "./problems.ts";

export interface PortFrame {
  /** The environment that the fleet was started with. */
  env: Environment;
  problems: Problems;
  config(): LoadedFleet;
}

/** What the configuration says about the port of a fleet. */
export interface WantedPort {
  host: string;
  port: number;
  /** Nobody said which port, and nobody outside has to know: another one will do as well. */
  anyPort: boolean;
  /** By which it may be called, besides its address; webhooks may use any. */
  names: readonly string[];
  /** The user's own; undefined where none is named. */
  token: string | undefined;
  readOnlyToken: string | undefined;
}

/** The port of a fleet, for whoever listens there. */
export class FleetPort {
  url: string | null = null;

  constructor(private readonly frame: PortFrame) {}

  get stateDir(): string {
    return this.frame.config().fleet.stateDir;
  }

  /** Tokens as they are now: the environment file is read anew. */
  get wanted(): WantedPort {
    const config = this.frame.config();
    const { fleet } = config;
    const { host, port, names, token_env, read_only_token_env } = fleet.server;
    const environment = readEnvironment(fleet.dir, this.frame.env);
    return {
      host,
      port,
      anyPort: isAnyPortGood(config),
      names,
      token: token_env && (environment[token_env] ?? ""),
      readOnlyToken: read_only_token_env && (environment[read_only_token_env] ?? ""),
    };
  }

  /** Why nobody can come in; undefined when all is well again. */
  problem(message: string | undefined): void {
    this.frame.problems.set("port", message);
  }
}
