import { exitCodes } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { queryFleetOrState } from "../query-fleet-or-state.ts";
import { tokenTable } from "../render/access-tables.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const tokens = await queryFleetOrState(
    context,
    (fleet) => fleet.tokens.list(),
    (state) => state.tokens.list(),
  );
  if (terminal.isJson) terminal.printJson({ tokens });
  else if (tokens.length === 0)
    terminal.print("No tokens yet. Run `herdctl token create` to create one.");
  else
    for (const line of tokenTable(tokens, new Date(), terminalStyleOf(terminal)))
      terminal.print(line);
  return exitCodes.success;
}
