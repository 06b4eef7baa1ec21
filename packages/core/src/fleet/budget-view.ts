import type { Fleet } from "../config/load.ts";
import { type Budget, limitsOf } from "../queue/budget.ts";
import { type Amounts, type Day, nothing, type Spent } from "../state/spending.ts";
import type { StateManager } from "../state/state-manager.ts";
import { dayOf } from "../triggers/schedule/day.ts";

/** What may be spent today, and what has been. */
export interface BudgetView {
  /** In the fleet's time zone. */
  day: string;
  fleet: BudgetLine;
  agents: (BudgetLine & { agent: string })[];
}

export interface BudgetLine {
  /** With what it was raised by; null where there is no limit. */
  limits: { usd: number | null; jobs: number | null; tokens: number | null };
  spent: Amounts;
  /** Held for jobs that are not over. */
  reserved_usd: number;
  raised: Amounts;
}

export async function viewBudget(
  { agents, fleet }: Fleet,
  state: StateManager,
  now: Date,
): Promise<BudgetView> {
  const today = dayOf(now, fleet.timezone);
  const spending = await state.budgets.spending(today);
  return {
    day: today.name,
    fleet: lineOf(fleet.budget, spending.fleet),
    agents: agents.map(({ name, budget }) => ({
      agent: name,
      ...lineOf(budget, spending.agents.get(name)),
    })),
  };
}

export function today({ fleet }: Fleet): Day {
  return dayOf(new Date(), fleet.timezone);
}

const unspent: Spent = { ...nothing, reserved_usd: 0, raised: nothing };

function lineOf(budget: Budget, spent: Spent = unspent): BudgetLine {
  const { usd, jobs, tokens, reserved_usd, raised } = spent;
  const limits = limitsOf(budget, raised);
  return {
    limits: { usd: limits.usd ?? null, jobs: limits.jobs ?? null, tokens: limits.tokens ?? null },
    spent: { usd, jobs, tokens },
    reserved_usd,
    raised,
  };
}
