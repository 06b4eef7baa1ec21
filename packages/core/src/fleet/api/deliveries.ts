import type {
  DeliveriesApi,
  Delivery,
  DeliveryListView,
  DeliveryQuery,
  DeliveryWithBody,
  HookQuery,
  HookRun,
  HooksApi,
} from "@herdctl/protocol";
import type { FleetContext } from "./fleet-context.ts";

export class FleetDeliveries implements DeliveriesApi {
  constructor(private readonly context: FleetContext) {}

  list(query: DeliveryQuery = {}): Promise<DeliveryListView> {
    return this.context.read(() => this.context.webhooks.list(query));
  }

  get(deliveryId: string): Promise<DeliveryWithBody | undefined> {
    return this.context.read(({ state }) => state.deliveries.get(deliveryId));
  }

  replay(deliveryId: string): Promise<Delivery> {
    const { webhooks, actor } = this.context;
    return this.context.perform(
      { action: "delivery.replay", target: deliveryId },
      () => webhooks.receiver.replay(deliveryId, actor),
      ({ job_id, agent }) => ({ details: { job: job_id, agent } }),
    );
  }
}

export class FleetHooks implements HooksApi {
  constructor(private readonly context: FleetContext) {}

  list(query: HookQuery = {}): Promise<HookRun[]> {
    return this.context.read(({ state }) => state.hooks.list(query));
  }

  retry(hookRunId: string): Promise<HookRun> {
    const action = { action: "hook.retry" as const, target: hookRunId };
    return this.context.perform(action, async ({ state, hooks }) => {
      const run = await state.hooks.retry(hookRunId);
      hooks.wake();
      return run;
    });
  }
}
