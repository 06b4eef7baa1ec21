import type { CommandContext } from "../command.ts";
import { resolveFleetFile } from "../find-fleet.ts";
import { queryFleetOrState } from "../query-fleet-or-state.ts";
import { budgetLines } from "../render/budget-lines.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const view = await queryFleetOrState(
    context,
    (fleet) => fleet.budget.get(),
    async (state) => {
      const { loadFleet, viewBudget } = await import("@herdctl/core/internal");
      return viewBudget(loadFleet(resolveFleetFile(context), context.env).fleet, state, new Date());
    },
  );
  if (terminal.isJson) terminal.printJson(view);
  else for (const line of budgetLines(view, terminalStyleOf(terminal))) terminal.print(line);
  return 0;
}
