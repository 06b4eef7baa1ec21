import type { Attempt, CostDimension, Job } from "@herdctl/protocol";
import { type CostQuery, costsByModel, type DayCost } from "../model/cost.ts";
import { execute, queryRows, type SqlProgram, type SqlRow } from "./sql-program.ts";

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
