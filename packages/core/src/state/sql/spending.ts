import {
  type Amounts,
  amountsSchema,
  type Day,
  nothing,
  type Spending,
  type Spent,
} from "../spending.ts";
import { readRecord } from "./record.ts";
import type { Dialect, SqlDatabase } from "./sql-database.ts";
import { all, run, type Steps } from "./steps.ts";

/** Counted from the records of jobs and attempts, so that no count can differ from them. */
export function* readSpending(database: SqlDatabase, day: Day): Steps<Counted> {
  const { dialect } = database;
  const agents = new Map<string, Spent>();
  const of = (agent: unknown): Spent => {
    const spent = agents.get(String(agent)) ?? { ...nothing, reserved_usd: 0, raised: nothing };
    agents.set(String(agent), spent);
    return spent;
  };
  const start = day.start.toISOString();
  for (const row of yield* all(jobsOfDay(dialect), start)) of(row.agent).jobs = Number(row.jobs);
  for (const row of yield* all(spentOnDay(dialect), start)) {
    const spent = of(row.agent);
    spent.usd = Number(row.usd);
    spent.tokens = Number(row.tokens);
  }
  for (const row of yield* all(reserved(dialect))) of(row.agent).reserved_usd = Number(row.usd);
  const raises = yield* raisesOf(database, day);
  for (const [agent, raised] of raises) if (agent !== wholeFleet) of(agent).raised = raised;
  return { agents, fleet: { ...sumOf(agents), raised: raises.get(wholeFleet) ?? nothing } };
}

/** What is spent while one transaction lets jobs in: counted once, and carried on from there. */
export class RunningSpending {
  readonly #database: SqlDatabase;
  readonly #days = new Map<string, Counted>();

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  *on(day: Day): Steps<Spending> {
    const known = this.#days.get(day.name) ?? (yield* readSpending(this.#database, day));
    this.#days.set(day.name, known);
    return known;
  }

  /** A job of today that was let in. */
  add(agent: string, reserved: number | null): void {
    for (const { agents, fleet } of this.#days.values()) {
      const own = agents.get(agent) ?? { ...nothing, reserved_usd: 0, raised: nothing };
      agents.set(agent, own);
      for (const spent of [own, fleet]) {
        spent.jobs += 1;
        spent.reserved_usd += reserved ?? 0;
      }
    }
  }
}

interface Counted extends Spending {
  agents: Map<string, Spent>;
}

/** No agent has an empty name. */
const wholeFleet = "";

export function* raiseBudget(
  database: SqlDatabase,
  day: Day,
  agent: string | undefined,
  by: Partial<Amounts>,
): Steps<void> {
  const name = agent ?? wholeFleet;
  const before = (yield* raisesOf(database, day)).get(name) ?? nothing;
  const raised = amountsSchema.parse({
    usd: before.usd + (by.usd ?? 0),
    jobs: before.jobs + (by.jobs ?? 0),
    tokens: before.tokens + (by.tokens ?? 0),
  });
  const sql = `INSERT INTO budget_raises (day, agent, record) VALUES (?, ?, ?)
               ON CONFLICT (day, agent) DO UPDATE SET record = excluded.record`;
  yield* run(sql, day.name, name, JSON.stringify(raised));
  yield* run("DELETE FROM budget_raises WHERE day < ?", day.name);
}

const jobsOfDay = ({ hint }: Dialect) => `
  SELECT agent, count(*) AS jobs FROM jobs ${hint("jobs_counted")}
  WHERE created_at >= ? AND status <> 'skipped' GROUP BY agent`;

const spentOnDay = ({ hint }: Dialect) => `
  SELECT jobs.agent, sum(coalesce(attempts.cost_usd, 0)) AS usd, sum(attempts.tokens) AS tokens
  FROM attempts ${hint("attempts_spent")}
    JOIN jobs ${hint("jobs_owner")} ON jobs.id = attempts.job_id
  WHERE attempts.finished_at >= ? GROUP BY jobs.agent`;

const reserved = ({ greatest, hint }: Dialect) => `
  SELECT agent, sum(${greatest}(0, reserved_usd - coalesce(cost_usd, 0))) AS usd
  FROM jobs ${hint("jobs_live")}
  WHERE status IN ('pending', 'running', 'waiting') AND reserved_usd IS NOT NULL
  GROUP BY agent`;

function* raisesOf(database: SqlDatabase, { name }: Day): Steps<Map<string, Amounts>> {
  const rows = yield* all("SELECT agent AS id, record FROM budget_raises WHERE day = ?", name);
  return new Map(rows.map((row) => [String(row.id), readRecord(database, amountsSchema, row)]));
}

function sumOf(agents: ReadonlyMap<string, Spent>): Omit<Spent, "raised"> {
  const sum = { ...nothing, reserved_usd: 0 };
  for (const { usd, jobs, tokens, reserved_usd } of agents.values()) {
    sum.usd += usd;
    sum.jobs += jobs;
    sum.tokens += tokens;
    sum.reserved_usd += reserved_usd;
  }
  return sum;
}
