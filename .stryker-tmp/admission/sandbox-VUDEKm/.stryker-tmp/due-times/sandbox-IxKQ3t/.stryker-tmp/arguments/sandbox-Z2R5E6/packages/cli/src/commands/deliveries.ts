import { UserError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { queryFleetOrState } from "../query-fleet-or-state.ts";
import { deliveryTableLines, refusalLines } from "../render/delivery-table.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { options, terminal } = context;
  const query = {
    agent: textOption(options, "agent"),
    limit: parseNumber(textOption(options, "limit") ?? "20", 1000),
    cursor: parseCursor(textOption(options, "cursor")),
  };
  const list = await queryFleetOrState(
    context,
    (fleet) => fleet.deliveries(query),
    async (state) => ({ ...(await state.deliveries.list(query)), refused: [] }),
  );
  if (terminal.isJson) {
    terminal.printJson(list);
    return 0;
  }
  const { deliveries, next, refused } = list;
  const style = terminalStyleOf(terminal);
  if (deliveries.length === 0) terminal.print("No webhook deliveries yet.");
  else for (const line of deliveryTableLines(deliveries, new Date(), style)) terminal.print(line);
  for (const line of refusalLines(refused)) terminal.print(line);
  if (next !== null) terminal.printNote(terminal.colors.dim(`More: add --cursor ${next}`));
  return 0;
}

function parseCursor(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseNumber(text, Number.MAX_SAFE_INTEGER);
}

function parseNumber(text: string, max: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw new UserError("usage", `"${text}" is not a whole number from 1 to ${max}`);
}
