import type { DeliveryWithBody } from "@herdctl/core";
import { UserError } from "@herdctl/core/light";
import type { Call } from "./command.ts";
import { readState } from "./read-state.ts";

/** The delivery that is typed, or the one that the beginning of an id means. */
export async function findDelivery(call: Call): Promise<DeliveryWithBody> {
  const [typed] = call.arguments;
  if (typed === undefined) throw new UserError("usage", "which delivery?", { hint: seeAll });
  return readState(call, async ({ deliveries }) => {
    const exact = await deliveries.get(typed);
    if (exact) return exact;
    const [first, ...others] = typed === "" ? [] : await deliveries.findByPrefix(typed);
    const found = first && others.length === 0 ? await deliveries.get(first.id) : undefined;
    if (found) return found;
    const message = first
      ? `several deliveries begin with ${typed}`
      : `there is no delivery ${typed}`;
    throw new UserError("delivery_not_found", message);
  });
}

const seeAll = "Run `herdctl deliveries` to see their ids.";
