import type { CommandContext } from "../command.ts";
import { findDelivery } from "../find-delivery.ts";
import { deliveryPageLines } from "../render/delivery-page.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const delivery = await findDelivery(context);
  if (terminal.isJson) terminal.printJson(delivery);
  else
    for (const line of deliveryPageLines(delivery, terminalStyleOf(terminal))) terminal.print(line);
  return 0;
}
