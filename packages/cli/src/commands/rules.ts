import { exitCodes } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { queryFleetOrState } from "../query-fleet-or-state.ts";
import { ruleTable } from "../render/rule-table.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const [agent] = context.arguments;
  const rules = await queryFleetOrState(
    context,
    (fleet) => fleet.rules.list({ agent }),
    (state) => state.rules.list({ agent }),
  );
  if (terminal.isJson) terminal.printJson({ rules });
  else if (rules.length === 0)
    terminal.print("No rules. `herdctl approvals allow ID --always` writes one.");
  else
    for (const line of ruleTable(rules, new Date(), terminalStyleOf(terminal)))
      terminal.print(line);
  return exitCodes.success;
}
