import type { Actor } from "../../store/model/identity.ts";
import type { AuditedAction } from "../audit-log-writer.ts";
import type { FleetHttpOptions } from "../http-options.ts";
import type { FleetLifecycle } from "../lifecycle.ts";
import type { FleetServices } from "../services.ts";
import type { FleetWebhooks } from "../webhooks.ts";

export interface FleetParts {
  lifecycle: FleetLifecycle;
  http: FleetHttpOptions;
  webhooks: FleetWebhooks;
}

/** The fleet, used by one actor. What changes something is recorded in the audit log. */
export class FleetContext {
  readonly lifecycle: FleetLifecycle;
  readonly http: FleetHttpOptions;
  readonly webhooks: FleetWebhooks;

  constructor(
    readonly parts: FleetParts,
    readonly actor: Actor,
  ) {
    this.lifecycle = parts.lifecycle;
    this.http = parts.http;
    this.webhooks = parts.webhooks;
  }

  read<T>(work: (services: FleetServices) => Promise<T>): Promise<T> {
    return this.lifecycle.withServices(work);
  }

  /** Does the work and records it as the actor's action, also if it fails. */
  perform<T>(
    action: AuditedAction,
    work: (services: FleetServices) => Promise<T>,
    describe?: (result: T) => Pick<AuditedAction, "target" | "details">,
    actor: Actor = this.actor,
  ): Promise<T> {
    const perform = () => this.lifecycle.withServices(work);
    return this.lifecycle.audit.perform(actor, action, perform, describe);
  }
}
