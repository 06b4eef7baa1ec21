import { type DeliveryWithBody, UserError } from "@herdctl/protocol";
import type { CommandContext } from "./command.ts";
import { readState } from "./read-state.ts";

/** The delivery with this ID or unique ID prefix. */
export async function findDelivery(context: CommandContext): Promise<DeliveryWithBody> {
  const [idPrefix] = context.arguments;
  if (idPrefix === undefined) {
    throw new UserError("usage", "the ID of the delivery is missing", { hint: listHint });
  }
  return readState(context, async ({ deliveries }) => {
    const exact = await deliveries.get(idPrefix);
    if (exact) return exact;
    const [first, ...others] = idPrefix === "" ? [] : await deliveries.findByPrefix(idPrefix);
    const found = first && others.length === 0 ? await deliveries.get(first.id) : undefined;
    if (found) return found;
    const message = first
      ? `several deliveries begin with ${idPrefix}`
      : `there is no delivery ${idPrefix}`;
    throw new UserError("delivery_not_found", message);
  });
}

const listHint = "Run `herdctl deliveries` to list deliveries and their IDs.";
