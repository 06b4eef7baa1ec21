import type { ShutdownOptions } from "@herdctl/protocol";
import type { RecoveryResult } from "../jobs/attempts/recovery.ts";
import type { Actor } from "../store/model/identity.ts";
import type { FleetAccess } from "./access.ts";
import { FleetApi } from "./api/fleet-api.ts";
import type { FleetParts } from "./api/fleet-context.ts";
import { processActor } from "./audit-log-writer.ts";
import { FleetHttpOptions, FleetMcpOptions } from "./http-options.ts";
import { FleetLifecycle, type FleetManagerOptions } from "./lifecycle.ts";
import { FleetWebhooks } from "./webhooks.ts";

/**
 * A fleet in this process: holds the lock, admits triggers, runs jobs and records their results. It
 * is stopped with `stop`, or at the end of the block with `await using`.
 */
export class FleetManager extends FleetApi {
  readonly webhooks: FleetWebhooks;
  readonly http: FleetHttpOptions;
  readonly mcp: FleetMcpOptions;
  /** Tokens and logins, for the server that authenticates requests. */
  readonly access: FleetAccess;
  readonly #parts: FleetParts;

  constructor(options: FleetManagerOptions) {
    const parts = createParts(options);
    super(parts, processActor());
    const { lifecycle, webhooks, http } = parts;
    this.#parts = parts;
    this.webhooks = webhooks;
    this.http = http;
    this.access = lifecycle.access;
    this.mcp = new FleetMcpOptions({
      env: options.env ?? process.env,
      config: () => lifecycle.config,
    });
  }

  /** The same fleet for another actor. Actions through it are recorded under that identity. */
  as(actor: Actor): FleetApi {
    return new FleetApi(this.#parts, actor);
  }

  /** Reads the configuration, takes the lock and opens the state. Nothing runs yet. */
  initialize(): Promise<void> {
    return this.#parts.lifecycle.initialize();
  }

  /** Adopts what an earlier fleet process left, then starts waiting jobs. */
  start(): Promise<RecoveryResult> {
    return this.#parts.lifecycle.start();
  }

  /** Stops this fleet, like `shutdown`. Running jobs may finish within `drainMs`. */
  stop(options?: ShutdownOptions): Promise<void> {
    return this.shutdown(options);
  }
}

function createParts(options: FleetManagerOptions): FleetParts {
  const env = options.env ?? process.env;
  const apiOf = (actor: Actor): FleetApi => new FleetApi(parts, actor);
  const lifecycle: FleetLifecycle = new FleetLifecycle(options, apiOf, () => http.publicUrl);
  const config = () => lifecycle.config;
  const http = new FleetHttpOptions({ env, problems: lifecycle.problems, config });
  const webhooks = new FleetWebhooks({
    env,
    hub: lifecycle.hub,
    config,
    state: () => lifecycle.runningServices.state,
    trigger: (request, delivery, actor) => apiOf(actor).jobs.admit(request, delivery),
    audit: lifecycle.audit,
  });
  const parts: FleetParts = { lifecycle, http, webhooks };
  return parts;
}
