import { UserError } from "@herdctl/core/light";
import { askFleet } from "../ask-fleet.ts";
import { type Call, textOption } from "../command.ts";
import { deliveryTable, refusalLines } from "../show/delivery-table.ts";
import { lookOf } from "../show/look.ts";

export async function run(call: Call): Promise<number> {
  const { options, terminal } = call;
  const query = {
    agent: textOption(options, "agent"),
    limit: numberOf(textOption(options, "limit") ?? "20", 1000),
    cursor: cursorOf(textOption(options, "cursor")),
  };
  const list = await askFleet(
    call,
    (fleet) => fleet.deliveries(query),
    async (state) => ({ ...(await state.deliveries.list(query)), refused: [] }),
  );
  if (terminal.json) {
    terminal.printJson(list);
    return 0;
  }
  const { deliveries, next, refused } = list;
  const look = lookOf(terminal);
  if (deliveries.length === 0) terminal.print("Nothing has been delivered here.");
  else for (const line of deliveryTable(deliveries, new Date(), look)) terminal.print(line);
  for (const line of refusalLines(refused)) terminal.print(line);
  if (next !== null) terminal.note(terminal.colors.dim(`There are more: add --cursor ${next}`));
  return 0;
}

function cursorOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : numberOf(text, Number.MAX_SAFE_INTEGER);
}

function numberOf(text: string, most: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= most) return number;
  throw new UserError("usage", `"${text}" is not a number from 1 to ${most}`);
}
