import type { ChainSpent } from "../chain.ts";
import type { Database } from "./database.ts";

/** Counted from the records themselves. What was refused at the door is no job of the chain. */
export function readChainSpent(database: Database, firstId: string): ChainSpent {
  const row = database.get(
    `SELECT count(*) AS jobs, sum(max(
       coalesce(record ->> '$.cost_usd', 0),
       iif(record ->> '$.finished_at' IS NULL, coalesce(record ->> '$.reserved_usd', 0), 0)
     )) AS usd
     FROM jobs INDEXED BY jobs_chain WHERE chain = ? AND status <> 'skipped'`,
    firstId,
  );
  return { jobs: Number(row?.jobs ?? 0), usd: Number(row?.usd ?? 0) };
}
