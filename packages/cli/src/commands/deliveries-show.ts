import type { Call } from "../command.ts";
import { findDelivery } from "../find-delivery.ts";
import { deliveryPage } from "../show/delivery-page.ts";
import { lookOf } from "../show/look.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const delivery = await findDelivery(call);
  if (terminal.json) terminal.printJson(delivery);
  else for (const line of deliveryPage(delivery, lookOf(terminal))) terminal.print(line);
  return 0;
}
