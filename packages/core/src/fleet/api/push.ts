import type { NewPushSubscription, PushApi, PushSubscriptionInfo } from "@herdctl/protocol";
import { UserError } from "@herdctl/protocol";
import { generatePushKeys } from "../../hooks/web-push.ts";
import { createAuditEntry } from "../audit-log-writer.ts";
import type { FleetContext } from "./fleet-context.ts";

export class FleetPush implements PushApi {
  constructor(private readonly context: FleetContext) {}

  async publicKey(): Promise<string> {
    const keys = await this.context.read(({ state }) => state.push.ensureKeys(generatePushKeys));
    return keys.public_key;
  }

  subscribe(subscription: NewPushSubscription): Promise<PushSubscriptionInfo> {
    const { actor } = this.context;
    return this.context.read(({ state, fleet }) => {
      const { allow_private } = fleet().server.push;
      // defence: push-https
      if (!subscription.endpoint.startsWith("https:") && !allow_private) {
        throw new UserError("usage", "the endpoint of a subscription must be an https URL");
      }
      const audit = createAuditEntry(actor, { action: "push.subscribe" });
      return state.push.add(subscription, actor.identity, audit);
    });
  }

  unsubscribe(subscriptionId: string): Promise<void> {
    const { actor } = this.context;
    return this.context.read(async ({ state }) => {
      const found = await state.push.get(subscriptionId);
      // defence: push-own-subscription
      if (found?.created_by !== actor.identity) return;
      const audit = createAuditEntry(actor, { action: "push.unsubscribe", target: found.id });
      await state.push.remove(found.id, audit);
    });
  }
}
