import type {
  BudgetApi,
  BudgetIncrease,
  BudgetView,
  CostQuery,
  CostsApi,
  CostView,
} from "@herdctl/protocol";
import { today } from "../../jobs/admission/budget.ts";
import { viewBudget } from "../views/budget.ts";
import { viewCosts } from "../views/costs.ts";
import type { FleetContext } from "./fleet-context.ts";

export class FleetBudget implements BudgetApi {
  constructor(private readonly context: FleetContext) {}

  get(): Promise<BudgetView> {
    return this.context.read(({ state, fleet }) => viewBudget(fleet(), state, new Date()));
  }

  raise({ agent, ...amounts }: BudgetIncrease): Promise<BudgetView> {
    const action = { action: "budget.raise" as const, target: agent, details: { ...amounts } };
    return this.context.perform(action, async ({ state, fleet, budgets }) => {
      const name = agent === undefined ? undefined : this.context.lifecycle.agent(agent).name;
      await state.budgets.raise(today(fleet()), name, amounts);
      budgets.refresh();
      return viewBudget(fleet(), state, new Date());
    });
  }
}

export class FleetCosts implements CostsApi {
  constructor(private readonly context: FleetContext) {}

  get(query: CostQuery = {}): Promise<CostView> {
    return this.context.read(({ state, fleet }) => viewCosts(fleet(), state, query, new Date()));
  }
}
