import { type Environment, type LoadedFleet, readEnvironment } from "@herdctl/config";
import type { DeliveryListView, DeliveryQuery } from "@herdctl/protocol";
import type { EventHub } from "../lib/event-hub.ts";
import type { StateManager } from "../store/state-manager.ts";
import { overrideOf } from "../triggers/schedules/schedule-entries.ts";
import {
  WebhookReceiver,
  type WebhookReceiverOptions,
} from "../triggers/webhooks/webhook-receiver.ts";
import type { AuditLogWriter } from "./audit-log-writer.ts";

export interface FleetWebhooksDeps {
  /** The environment that the fleet was started with. */
  env: Environment;
  hub: EventHub;
  config(): LoadedFleet;
  state(): StateManager;
  trigger: WebhookReceiverOptions["trigger"];
  audit: Pick<AuditLogWriter, "recordFailedAuthentication">;
}

/** The webhooks of a fleet, for the server that receives deliveries. */
export class FleetWebhooks {
  readonly receiver: WebhookReceiver;

  constructor(private readonly deps: FleetWebhooksDeps) {
    const { config, env, state, trigger, audit } = deps;
    this.receiver = new WebhookReceiver({
      agents: () => config().fleet.agents,
      environment: () => readEnvironment(config().fleet.dir, env),
      stores: state,
      trigger,
      isEnabled: async (target, { enabled }) =>
        overrideOf(await state().schedules.listSwitches(), target) ?? enabled,
      onSignatureRejected: ({ agent, schedule }, origin) =>
        audit.recordFailedAuthentication({
          ...{ action: "delivery.receive", target: `${agent}/${schedule}` },
          ...{ origin, error: "signature_wrong" },
        }),
      prune: () => this.tidy(),
      onDelivery: (delivery) => deps.hub.emit({ type: "delivery:received", delivery }),
    });
  }

  async list(query: DeliveryQuery): Promise<DeliveryListView> {
    const page = await this.deps.state().deliveries.list(query);
    return { ...page, refused: this.receiver.refusals };
  }

  /** Removes old deliveries. A delivery must neither wait for this nor fail because of it. */
  private async tidy(): Promise<void> {
    const { age, deliveries: keep } = this.deps.config().fleet.fleet.retention;
    const receivedBefore = new Date(Date.now() - age);
    await this.deps
      .state()
      .deliveries.prune({ receivedBefore, keep, limit: 200 })
      .catch(() => undefined);
  }
}
