import type {
  Attempt,
  BudgetAmounts,
  BudgetDay,
  CostDimension,
  DailySpending,
  FleetSpending,
  Job,
  TokenCounts,
} from "@herdctl/protocol";
import { amountsSchema, zeroAmounts } from "@herdctl/protocol/schemas";
import {
  execute,
  queryRows,
  readRecord,
  type SqlDatabase,
  type SqlDialect,
  type SqlProgram,
  type SqlRow,
} from "./sql-program.ts";

/** Counted from the records of jobs and attempts, so that the sums always match them. */
export function* readSpending(database: SqlDatabase, day: BudgetDay): SqlProgram<SpendingByAgent> {
  const { dialect } = database;
  const agents = new Map<string, DailySpending>();
  const spentBy = (agent: unknown): DailySpending => {
    const spent = agents.get(String(agent)) ?? {
      ...zeroAmounts,
      reserved_usd: 0,
      raised: zeroAmounts,
    };
    agents.set(String(agent), spent);
    return spent;
  };
  const start = day.start.toISOString();
  for (const row of yield* queryRows(jobCountSql(dialect), start))
    spentBy(row.agent).jobs = Number(row.jobs);
  for (const row of yield* queryRows(spentSql(dialect), start)) {
    const spent = spentBy(row.agent);
    spent.usd = Number(row.usd);
    spent.tokens = Number(row.tokens);
  }
  for (const row of yield* queryRows(reserved(dialect)))
    spentBy(row.agent).reserved_usd = Number(row.usd);
  const raises = yield* readRaises(database, day);
  for (const [agent, raised] of raises) if (agent !== fleetKey) spentBy(agent).raised = raised;
  return { agents, fleet: { ...sumOf(agents), raised: raises.get(fleetKey) ?? zeroAmounts } };
}

/** Spending during one transaction that admits jobs: read once, then updated. */
export class RunningSpending {
  private readonly days = new Map<string, SpendingByAgent>();

  constructor(private readonly database: SqlDatabase) {}

  *forDay(day: BudgetDay): SqlProgram<FleetSpending> {
    const known = this.days.get(day.name) ?? (yield* readSpending(this.database, day));
    this.days.set(day.name, known);
    return known;
  }

  /** Adds an admitted job of today. */
  add(agent: string, reserved: number | null): void {
    for (const { agents, fleet } of this.days.values()) {
      const own = agents.get(agent) ?? { ...zeroAmounts, reserved_usd: 0, raised: zeroAmounts };
      agents.set(agent, own);
      for (const spent of [own, fleet]) {
        spent.jobs += 1;
        spent.reserved_usd += reserved ?? 0;
      }
    }
  }
}

interface SpendingByAgent extends FleetSpending {
  agents: Map<string, DailySpending>;
}

/** No agent has an empty name. */
const fleetKey = "";

export function* raiseBudget(
  database: SqlDatabase,
  day: BudgetDay,
  agent: string | undefined,
  by: Partial<BudgetAmounts>,
): SqlProgram<void> {
  const name = agent ?? fleetKey;
  const before = (yield* readRaises(database, day)).get(name) ?? zeroAmounts;
  const raised = amountsSchema.parse({
    usd: before.usd + (by.usd ?? 0),
    jobs: before.jobs + (by.jobs ?? 0),
    tokens: before.tokens + (by.tokens ?? 0),
  });
  const sql = `INSERT INTO budget_raises (day, agent, record) VALUES (?, ?, ?)
               ON CONFLICT (day, agent) DO UPDATE SET record = excluded.record`;
  yield* execute(sql, day.name, name, JSON.stringify(raised));
  yield* execute("DELETE FROM budget_raises WHERE day < ?", day.name);
}

const jobCountSql = ({ hint }: SqlDialect) => `
  SELECT agent, count(*) AS jobs FROM jobs ${hint("jobs_counted")}
  WHERE created_at >= ? AND status <> 'skipped' GROUP BY agent`;

const spentSql = ({ hint }: SqlDialect) => `
  SELECT jobs.agent, sum(coalesce(attempts.cost_usd, 0)) AS usd, sum(attempts.tokens) AS tokens
  FROM attempts ${hint("attempts_spent")}
    JOIN jobs ${hint("jobs_owner")} ON jobs.id = attempts.job_id
  WHERE attempts.finished_at >= ? GROUP BY jobs.agent`;

const reserved = ({ greatest, hint }: SqlDialect) => `
  SELECT agent, sum(${greatest}(0, reserved_usd - coalesce(cost_usd, 0))) AS usd
  FROM jobs ${hint("jobs_live")}
  WHERE status IN ('pending', 'running', 'waiting') AND reserved_usd IS NOT NULL
  GROUP BY agent`;

function* readRaises(
  database: SqlDatabase,
  { name }: BudgetDay,
): SqlProgram<Map<string, BudgetAmounts>> {
  const rows = yield* queryRows(
    "SELECT agent AS id, record FROM budget_raises WHERE day = ?",
    name,
  );
  return new Map(rows.map((row) => [String(row.id), readRecord(database, amountsSchema, row)]));
}

function sumOf(agents: ReadonlyMap<string, DailySpending>): Omit<DailySpending, "raised"> {
  const sum = { ...zeroAmounts, reserved_usd: 0 };
  for (const { usd, jobs, tokens, reserved_usd } of agents.values()) {
    sum.usd += usd;
    sum.jobs += jobs;
    sum.tokens += tokens;
    sum.reserved_usd += reserved_usd;
  }
  return sum;
}

/**
 * Daily sums, updated in the transaction that ends an attempt. The cost of reading them does not
 * depend on the number of jobs, and they stay when jobs are deleted.
 */
export function* addDayCosts(
  { agent, schedule }: Pick<Job, "agent" | "schedule">,
  attempt: Attempt,
  day: string,
): SqlProgram<void> {
  for (const { model, usd, ...tokens } of costsByModel(attempt)) {
    yield* execute(
      upsertSql,
      day,
      agent,
      schedule ?? "",
      model,
      usd,
      tokens.input_tokens,
      tokens.output_tokens,
      tokens.cache_read_input_tokens,
      tokens.cache_creation_input_tokens,
    );
  }
}

export function* readDayCosts(query: CostQuery): SqlProgram<DayCost[]> {
  const { by, since, until, agent } = query;
  const sql = `SELECT day, ${columnsByKey[by]}, sum(usd) AS usd, ${runCountSql(by)} AS runs, ${tokenSums}
    FROM day_costs WHERE day BETWEEN ? AND ? ${agent === undefined ? "" : "AND agent = ?"}
    GROUP BY ${groupingByKey[by]} HAVING sum(usd) > 0 OR ${runCountSql(by)} > 0 ORDER BY ${groupingByKey[by]}`;
  const rows = yield* queryRows(sql, since, until, ...(agent === undefined ? [] : [agent]));
  return rows.map(toDayCost);
}

const tokenFields = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
] as const;

const upsertSql = `INSERT INTO day_costs (day, agent, schedule, model, runs, usd, ${tokenFields})
  VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?)
  ON CONFLICT (day, agent, schedule, model) DO UPDATE SET
    ${["runs", "usd", ...tokenFields].map((field) => `${field} = day_costs.${field} + excluded.${field}`)}`;

const tokenSums = tokenFields.map((field) => `sum(${field}) AS ${field}`).join(", ");

const columnsByKey: Record<CostDimension, string> = {
  agent: "agent, NULL AS schedule, NULL AS model",
  schedule: "agent, schedule, NULL AS model",
  model: "NULL AS agent, NULL AS schedule, model",
};

/** Matches the order of the table where possible, so that nothing must be sorted. */
const groupingByKey: Record<CostDimension, string> = {
  agent: "day, agent",
  schedule: "day, agent, schedule",
  model: "day, model",
};

/** Each run has one row without a model. For models, the runs that used them are counted. */
function runCountSql(by: CostDimension): string {
  return `sum(CASE WHEN model ${by === "model" ? "<>" : "="} '' THEN runs ELSE 0 END)`;
}

function toDayCost(row: SqlRow): DayCost {
  const textOrNull = (value: unknown) => (value === null || value === "" ? null : String(value));
  return {
    day: String(row.day),
    agent: textOrNull(row.agent),
    schedule: textOrNull(row.schedule),
    model: textOrNull(row.model),
    usd: Number(row.usd),
    runs: Number(row.runs),
    input_tokens: Number(row.input_tokens),
    output_tokens: Number(row.output_tokens),
    cache_read_input_tokens: Number(row.cache_read_input_tokens),
    cache_creation_input_tokens: Number(row.cache_creation_input_tokens),
  };
}

export interface CostQuery {
  by: CostDimension;
  /** The first and the last day, such as `2026-03-01`. */
  since: string;
  until: string;
  agent?: string;
}

/** Costs of one day. Dimensions that are not grouped by are null, and so are unknown ones. */
export interface DayCost extends TokenCounts {
  day: string;
  agent: string | null;
  schedule: string | null;
  model: string | null;
  usd: number;
  runs: number;
}

/** Costs of one run by model. Costs without a model have an empty name. */
function costsByModel({ cost_usd, usage }: Attempt): ModelCost[] {
  const models = Object.entries(usage?.models ?? {}).map(
    ([model, { cost_usd: usd, ...tokens }]) => ({
      model,
      usd,
      ...tokens,
    }),
  );
  return [
    ...models,
    { model: "", ...unattributedCost(cost_usd ?? 0, usage ?? zeroTokens, models) },
  ];
}

interface ModelCost extends TokenCounts {
  model: string;
  usd: number;
}

const zeroTokens: TokenCounts = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

function unattributedCost(
  usd: number,
  tokens: TokenCounts,
  models: ModelCost[],
): Omit<ModelCost, "model"> {
  const remainder = (total: number, field: keyof Omit<ModelCost, "model">) =>
    Math.max(0, total - models.reduce((sum, cost) => sum + cost[field], 0));
  return {
    // Sums of prices have rounding errors, which are not a cost.
    usd: Math.round(remainder(usd, "usd") * 1e6) / 1e6,
    input_tokens: remainder(tokens.input_tokens, "input_tokens"),
    output_tokens: remainder(tokens.output_tokens, "output_tokens"),
    cache_read_input_tokens: remainder(tokens.cache_read_input_tokens, "cache_read_input_tokens"),
    cache_creation_input_tokens: remainder(
      tokens.cache_creation_input_tokens,
      "cache_creation_input_tokens",
    ),
  };
}
