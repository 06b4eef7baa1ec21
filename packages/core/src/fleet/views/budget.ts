import type { Fleet } from "@herdctl/config";
import type { BudgetUsage, BudgetView, DailySpending } from "@herdctl/protocol";
import { zeroAmounts } from "@herdctl/protocol/schemas";
import { type Budget, effectiveLimits } from "../../jobs/admission/decide-admission.ts";
import { dayOf } from "../../lib/time-zone.ts";
import type { StateManager } from "../../store/state-manager.ts";

export async function viewBudget(
  { agents, fleet }: Fleet,
  state: StateManager,
  now: Date,
): Promise<BudgetView> {
  const today = dayOf(now, fleet.timezone);
  const spending = await state.budgets.getSpending(today);
  return {
    day: today.name,
    fleet: budgetLine(fleet.budget, spending.fleet),
    agents: agents.map(({ name, budget }) => ({
      agent: name,
      ...budgetLine(budget, spending.agents.get(name)),
    })),
  };
}

const zeroSpent: DailySpending = { ...zeroAmounts, reserved_usd: 0, raised: zeroAmounts };

function budgetLine(budget: Budget, spent: DailySpending = zeroSpent): BudgetUsage {
  const { usd, jobs, tokens, reserved_usd, raised } = spent;
  const limits = effectiveLimits(budget, raised);
  return {
    limits: { usd: limits.usd ?? null, jobs: limits.jobs ?? null, tokens: limits.tokens ?? null },
    spent: { usd, jobs, tokens },
    reserved_usd,
    raised,
  };
}
