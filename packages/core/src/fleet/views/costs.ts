import type { Fleet } from "@herdctl/config";
import type { CostQuery, CostRow, CostTotals, CostView, TokenCounts } from "@herdctl/protocol";
import { dayOf, machineTimezone } from "../../lib/time-zone.ts";
import type { DayCost } from "../../store/sql/spending.ts";
import type { StateManager } from "../../store/state-manager.ts";

const defaultDays = 30;

export async function viewCosts(
  { agents, fleet }: Fleet,
  state: StateManager,
  { by = "agent", days: dayCount = defaultDays, agent }: CostQuery,
  now: Date,
): Promise<CostView> {
  const { timezone = machineTimezone() } = fleet;
  const days = lastDays(dayOf(now, timezone).name, dayCount);
  const [since = "", until = ""] = [days.at(0), days.at(-1)];
  const costs = await state.budgets.listCosts({ by, since, until, agent });
  const dailyLimitOf = (name: string | null) =>
    agents.find((agent) => agent.name === name)?.budget.daily_usd ?? null;
  return {
    timezone,
    days,
    total: costSum(
      costs,
      days,
      agent === undefined ? (fleet.budget.daily_usd ?? null) : dailyLimitOf(agent),
    ),
    rows: groupByLine(costs)
      .map((group) => costLine(group, days, dailyLimitOf))
      .sort(compareCost),
  };
}

/** Days are dates without a time zone, so UTC arithmetic is safe. */
function lastDays(last: string, dayCount: number): string[] {
  const end = Date.parse(`${last}T00:00:00Z`);
  const names = Array.from({ length: dayCount }, (_, daysBack) => new Date(end - daysBack * dayMs));
  return names.map((day) => day.toISOString().slice(0, 10)).reverse();
}

const dayMs = 86_400_000;

function groupByLine(costs: DayCost[]): DayCost[][] {
  const lines = new Map<string, DayCost[]>();
  for (const cost of costs) {
    const name = JSON.stringify([cost.agent, cost.schedule, cost.model]);
    lines.set(name, [...(lines.get(name) ?? []), cost]);
  }
  return [...lines.values()];
}

function costLine(
  costs: DayCost[],
  days: string[],
  dailyLimitOf: (agent: string | null) => number | null,
): CostRow {
  const { agent = null, schedule = null, model = null } = costs[0] ?? {};
  const limit = schedule === null ? dailyLimitOf(agent) : null;
  return { agent, schedule, model, ...costSum(costs, days, limit) };
}

function costSum(costs: DayCost[], days: string[], daily_limit_usd: number | null): CostTotals {
  const sum = (field: keyof TokenCounts | "usd" | "runs", items = costs) =>
    items.reduce((total, cost) => total + cost[field], 0);
  const byDay = new Map<string, number>();
  for (const { day, usd } of costs) byDay.set(day, (byDay.get(day) ?? 0) + usd);
  return {
    usd: roundUsd(sum("usd")),
    runs: sum("runs"),
    input_tokens: sum("input_tokens"),
    output_tokens: sum("output_tokens"),
    cache_read_input_tokens: sum("cache_read_input_tokens"),
    cache_creation_input_tokens: sum("cache_creation_input_tokens"),
    usd_by_day: days.map((day) => roundUsd(byDay.get(day) ?? 0)),
    daily_limit_usd,
  };
}

/** Sums of prices have rounding errors. */
function roundUsd(usd: number): number {
  return Math.round(usd * 1e8) / 1e8;
}

function compareCost(a: CostRow, b: CostRow): number {
  return b.usd - a.usd || b.runs - a.runs;
}
