import { exitCodes } from "@herdctl/core/light";
import { askFleet } from "../ask-fleet.ts";
import type { Call } from "../command.ts";
import { loginTable } from "../show/access-tables.ts";
import { lookOf } from "../show/look.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const logins = await askFleet(
    call,
    (fleet) => fleet.logins(),
    (state) => state.logins.list(),
  );
  if (terminal.json) terminal.printJson({ logins });
  else if (logins.length === 0) terminal.print("No browser is signed in.");
  else for (const line of loginTable(logins, new Date(), lookOf(terminal))) terminal.print(line);
  return exitCodes.success;
}
