import { askFleet } from "../ask-fleet.ts";
import type { Call } from "../command.ts";
import { fleetFileOf } from "../fleet-access.ts";
import { budgetLines } from "../show/budget-lines.ts";
import { lookOf } from "../show/look.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const view = await askFleet(
    call,
    (fleet) => fleet.budget(),
    async (state) => {
      const { loadFleet, viewBudget } = await import("@herdctl/core");
      return viewBudget(loadFleet(fleetFileOf(call), call.env).fleet, state, new Date());
    },
  );
  if (terminal.json) terminal.printJson(view);
  else for (const line of budgetLines(view, lookOf(terminal))) terminal.print(line);
  return 0;
}
