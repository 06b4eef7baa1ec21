import { type Environment, readEnvironment } from "../config/environment.ts";
import type { LoadedFleet } from "../config/load.ts";
import type { DeliveryQuery } from "../state/contract.ts";
import type { StateManager } from "../state/state-manager.ts";
import { type DoorOptions, WebhookDoor } from "../triggers/webhook/webhook-door.ts";
import type { DeliveryList } from "./control.ts";
import type { EventHub } from "./event-hub.ts";
import { switchOf } from "./timetable.ts";

export interface WebhookFrame {
  /** The environment that the fleet was started with. */
  env: Environment;
  hub: EventHub;
  config(): LoadedFleet;
  state(): StateManager;
  trigger: DoorOptions["trigger"];
}

/** The webhooks of a fleet, for whoever carries deliveries to it. */
export class FleetWebhooks {
  readonly door: WebhookDoor;

  constructor(private readonly frame: WebhookFrame) {
    const { config, env, state, trigger } = frame;
    this.door = new WebhookDoor({
      agents: () => config().fleet.agents,
      environment: () => readEnvironment(config().fleet.dir, env),
      stores: state,
      trigger,
      isOn: async (target, { enabled }) =>
        switchOf(await state().schedules.switches(), target) ?? enabled,
      tidy: () => this.tidy(),
      received: (delivery) => frame.hub.emit({ type: "delivery:received", delivery }),
    });
  }

  async list(query: DeliveryQuery): Promise<DeliveryList> {
    const page = await this.frame.state().deliveries.list(query);
    return { ...page, refused: this.door.refusals };
  }

  /** Whether or not it can be done now: nobody should wait for it, nor fail by it. */
  private async tidy(): Promise<void> {
    const { age, deliveries: keep } = this.frame.config().fleet.fleet.retention;
    const receivedBefore = new Date(Date.now() - age);
    await this.frame
      .state()
      .deliveries.prune({ receivedBefore, keep, limit: 200 })
      .catch(() => undefined);
  }
}
