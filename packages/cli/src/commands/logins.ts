import { exitCodes } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { queryFleetOrState } from "../query-fleet-or-state.ts";
import { loginTable } from "../render/access-tables.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const logins = await queryFleetOrState(
    context,
    (fleet) => fleet.logins.list(),
    (state) => state.logins.list(),
  );
  if (terminal.isJson) terminal.printJson({ logins });
  else if (logins.length === 0) terminal.print("No browser is signed in.");
  else
    for (const line of loginTable(logins, new Date(), terminalStyleOf(terminal)))
      terminal.print(line);
  return exitCodes.success;
}
