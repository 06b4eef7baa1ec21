import { exitCodes } from "@herdctl/core/light";
import { askFleet } from "../ask-fleet.ts";
import type { Call } from "../command.ts";
import { tokenTable } from "../show/access-tables.ts";
import { lookOf } from "../show/look.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const tokens = await askFleet(
    call,
    (fleet) => fleet.tokens(),
    (state) => state.tokens.list(),
  );
  if (terminal.json) terminal.printJson({ tokens });
  else if (tokens.length === 0) terminal.print("No tokens yet: `herdctl token create` makes one.");
  else for (const line of tokenTable(tokens, new Date(), lookOf(terminal))) terminal.print(line);
  return exitCodes.success;
}
