import type { ChainSpent } from "../chain.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { one, type Steps } from "./steps.ts";

/** Counted from the records themselves. What was refused at the door is no job of the chain. */
export function* readChainSpent({ dialect }: SqlDatabase, firstId: string): Steps<ChainSpent> {
  const row = yield* one(
    `SELECT count(*) AS jobs, sum(${dialect.greatest}(
       coalesce(cost_usd, 0),
       CASE WHEN finished_at IS NULL THEN coalesce(reserved_usd, 0) ELSE 0 END
     )) AS usd
     FROM jobs ${dialect.hint("jobs_chain")} WHERE chain = ? AND status <> 'skipped'`,
    firstId,
  );
  return { jobs: Number(row?.jobs ?? 0), usd: Number(row?.usd ?? 0) };
}
