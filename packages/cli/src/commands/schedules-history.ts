import { UserError } from "@herdctl/core/light";
import { askFleet } from "../ask-fleet.ts";
import { type Call, textOption } from "../command.ts";
import { dueTable } from "../show/due-table.ts";
import { lookOf } from "../show/look.ts";

export async function run(call: Call): Promise<number> {
  const { terminal, options } = call;
  const [agent, schedule] = call.arguments;
  const cursor = textOption(options, "cursor");
  const query = { agent, schedule, cursor, limit: limitOf(textOption(options, "limit")) };
  const { records, next } = await askFleet(
    call,
    (fleet) => fleet.dueTimes(query),
    (state) => state.schedules.history(query),
  );
  if (terminal.json) {
    terminal.printJson({ records, next });
    return 0;
  }
  if (records.length === 0) terminal.print("Nothing has come due yet.");
  else for (const line of dueTable(records, lookOf(terminal))) terminal.print(line);
  if (next !== null) terminal.note(terminal.colors.dim(`There are more: add --cursor ${next}`));
  return 0;
}

function limitOf(text = "20"): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw new UserError("usage", `"${text}" is not a number of due times`, {
    hint: "Give 1 to 1000.",
  });
}
