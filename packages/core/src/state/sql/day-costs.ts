import { type CostKey, type CostQuery, costsOf, type DayCost } from "../cost.ts";
import type { Attempt, Job } from "../job.ts";
import { all, type Row, run, type Steps } from "./steps.ts";

/**
 * Sums that are kept with each end of an attempt, in its transaction: they cost the same to read
 * however many jobs there were, and stay when those are removed.
 */
export function* addDayCosts(
  { agent, schedule }: Pick<Job, "agent" | "schedule">,
  attempt: Attempt,
  day: string,
): Steps<void> {
  for (const { model, usd, ...tokens } of costsOf(attempt)) {
    yield* run(
      addOne,
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

export function* readDayCosts(query: CostQuery): Steps<DayCost[]> {
  const { by, since, until, agent } = query;
  const sql = `SELECT day, ${columnsOf[by]}, sum(usd) AS usd, ${runsOf(by)} AS runs, ${tokenSums}
    FROM day_costs WHERE day BETWEEN ? AND ? ${agent === undefined ? "" : "AND agent = ?"}
    GROUP BY ${keysOf[by]} HAVING sum(usd) > 0 OR ${runsOf(by)} > 0 ORDER BY ${keysOf[by]}`;
  const rows = yield* all(sql, since, until, ...(agent === undefined ? [] : [agent]));
  return rows.map(read);
}

const tokenFields = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
] as const;

const addOne = `INSERT INTO day_costs (day, agent, schedule, model, runs, usd, ${tokenFields})
  VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?)
  ON CONFLICT (day, agent, schedule, model) DO UPDATE SET
    ${["runs", "usd", ...tokenFields].map((field) => `${field} = day_costs.${field} + excluded.${field}`)}`;

const tokenSums = tokenFields.map((field) => `sum(${field}) AS ${field}`).join(", ");

const columnsOf: Record<CostKey, string> = {
  agent: "agent, NULL AS schedule, NULL AS model",
  schedule: "agent, schedule, NULL AS model",
  model: "NULL AS agent, NULL AS schedule, model",
};

/** In the order of the table where it can be: then nothing has to be sorted. */
const keysOf: Record<CostKey, string> = {
  agent: "day, agent",
  schedule: "day, agent, schedule",
  model: "day, model",
};

/** Each run has one line under no model's name; a model has those that used it. */
function runsOf(by: CostKey): string {
  return `sum(CASE WHEN model ${by === "model" ? "<>" : "="} '' THEN runs ELSE 0 END)`;
}

function read(row: Row): DayCost {
  const word = (value: unknown) => (value === null || value === "" ? null : String(value));
  return {
    day: String(row.day),
    agent: word(row.agent),
    schedule: word(row.schedule),
    model: word(row.model),
    usd: Number(row.usd),
    runs: Number(row.runs),
    input_tokens: Number(row.input_tokens),
    output_tokens: Number(row.output_tokens),
    cache_read_input_tokens: Number(row.cache_read_input_tokens),
    cache_creation_input_tokens: Number(row.cache_creation_input_tokens),
  };
}
