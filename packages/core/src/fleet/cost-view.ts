import type { Fleet } from "../config/load.ts";
import type { CostKey, DayCost, TokenCounts } from "../state/cost.ts";
import type { StateManager } from "../state/state-manager.ts";
import { dayOf } from "../triggers/schedule/day.ts";
import { machineTimezone } from "../triggers/schedule/plan.ts";

export interface CostRequest {
  by: CostKey;
  /** So many, with today as the last one. */
  days: number;
  agent?: string;
}

/** What runs cost, told apart by one thing and by day. */
export interface CostView {
  timezone: string;
  /** Every one of them, also those on which nothing ran; the earliest first. */
  days: string[];
  total: CostSum;
  /** The dearest first. */
  lines: CostLine[];
}

export interface CostSum extends TokenCounts {
  usd: number;
  runs: number;
  /** In the order of the days. */
  usd_by_day: number[];
  /** What may be spent on a day, as it is configured; null where there is no limit. */
  daily_limit_usd: number | null;
}

export interface CostLine extends CostSum {
  agent: string | null;
  schedule: string | null;
  model: string | null;
}

export async function viewCosts(
  { agents, fleet }: Fleet,
  state: StateManager,
  { by, days: count, agent }: CostRequest,
  now: Date,
): Promise<CostView> {
  const { timezone = machineTimezone() } = fleet;
  const days = lastDays(dayOf(now, timezone).name, count);
  const [since = "", until = ""] = [days.at(0), days.at(-1)];
  const costs = await state.budgets.costs({ by, since, until, agent });
  const limitOf = (name: string | null) =>
    agents.find((one) => one.name === name)?.budget.daily_usd ?? null;
  return {
    timezone,
    days,
    total: sumOf(
      costs,
      days,
      agent === undefined ? (fleet.budget.daily_usd ?? null) : limitOf(agent),
    ),
    lines: linesOf(costs)
      .map((own) => lineOf(own, days, limitOf))
      .sort(byCost),
  };
}

/** Days have names, and no time zone bends them. */
function lastDays(last: string, count: number): string[] {
  const end = Date.parse(`${last}T00:00:00Z`);
  const names = Array.from({ length: count }, (_, back) => new Date(end - back * oneDay));
  return names.map((day) => day.toISOString().slice(0, 10)).reverse();
}

const oneDay = 86_400_000;

function linesOf(costs: DayCost[]): DayCost[][] {
  const lines = new Map<string, DayCost[]>();
  for (const cost of costs) {
    const name = JSON.stringify([cost.agent, cost.schedule, cost.model]);
    lines.set(name, [...(lines.get(name) ?? []), cost]);
  }
  return [...lines.values()];
}

function lineOf(
  costs: DayCost[],
  days: string[],
  limitOf: (agent: string | null) => number | null,
): CostLine {
  const { agent = null, schedule = null, model = null } = costs[0] ?? {};
  const limit = schedule === null ? limitOf(agent) : null;
  return { agent, schedule, model, ...sumOf(costs, days, limit) };
}

function sumOf(costs: DayCost[], days: string[], daily_limit_usd: number | null): CostSum {
  const sum = (field: keyof TokenCounts | "usd" | "runs", of = costs) =>
    of.reduce((all, cost) => all + cost[field], 0);
  const byDay = new Map<string, number>();
  for (const { day, usd } of costs) byDay.set(day, (byDay.get(day) ?? 0) + usd);
  return {
    usd: exact(sum("usd")),
    runs: sum("runs"),
    input_tokens: sum("input_tokens"),
    output_tokens: sum("output_tokens"),
    cache_read_input_tokens: sum("cache_read_input_tokens"),
    cache_creation_input_tokens: sum("cache_creation_input_tokens"),
    usd_by_day: days.map((day) => exact(byDay.get(day) ?? 0)),
    daily_limit_usd,
  };
}

/** Sums of prices end in noise. */
function exact(usd: number): number {
  return Math.round(usd * 1e8) / 1e8;
}

function byCost(a: CostLine, b: CostLine): number {
  return b.usd - a.usd || b.runs - a.runs;
}
