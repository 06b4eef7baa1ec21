import type { BudgetAmounts, BudgetDay, DailySpending, FleetSpending } from "@herdctl/protocol";
import { amountsSchema, zeroAmounts } from "@herdctl/protocol/schemas";
import { readRecord } from "./read-record.ts";
import type { SqlDatabase, SqlDialect } from "./sql-database.ts";
import { execute, queryRows, type SqlProgram } from "./sql-program.ts";

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
  readonly #database: SqlDatabase;
  readonly #days = new Map<string, SpendingByAgent>();

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  *forDay(day: BudgetDay): SqlProgram<FleetSpending> {
    const known = this.#days.get(day.name) ?? (yield* readSpending(this.#database, day));
    this.#days.set(day.name, known);
    return known;
  }

  /** Adds an admitted job of today. */
  add(agent: string, reserved: number | null): void {
    for (const { agents, fleet } of this.#days.values()) {
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
