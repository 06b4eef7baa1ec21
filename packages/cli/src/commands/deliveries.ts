import type { DeliveryQuery } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { parseLimit } from "../parse-query-options.ts";
import { queryFleetOrState } from "../query-fleet-or-state.ts";
import { deliveryTableLines, refusalLines } from "../render/delivery-table.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { options, terminal } = context;
  const query: DeliveryQuery = {
    agent: textOption(options, "agent"),
    limit: parseLimit(textOption(options, "limit") ?? "20", "deliveries"),
    cursor: textOption(options, "cursor"),
  };
  const list = await queryFleetOrState(
    context,
    (fleet) => fleet.deliveries.list(query),
    async (state) => ({ ...(await state.deliveries.list(query)), refused: [] }),
  );
  if (terminal.isJson) {
    terminal.printJson(list);
    return 0;
  }
  const { deliveries, next_cursor: next, refused } = list;
  const style = terminalStyleOf(terminal);
  if (deliveries.length === 0) terminal.print("No webhook deliveries yet.");
  else for (const line of deliveryTableLines(deliveries, new Date(), style)) terminal.print(line);
  for (const line of refusalLines(refused)) terminal.print(line);
  if (next !== null) terminal.printNote(terminal.colors.dim(`More: add --cursor ${next}`));
  return 0;
}
