import type { FleetStatus } from "@herdctl/server/contract";
import { formatCountOf } from "../../ui/format-quantities.ts";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Money, RelativeTime } from "../../ui/time.tsx";

/** The filters below show how many agents run, wait or failed. */
export function FleetCounts({ fleet, agents }: FleetStatus) {
  const { pending, state, started_at, cost_today_usd } = fleet;
  return (
    <span className="flex flex-wrap gap-x-3">
      <span>{formatCountOf(agents.length, "agent")}</span>
      {pending > 0 && <span>{formatCountOf(pending, "job")} queued</span>}
      <span>
        <Money usd={cost_today_usd} /> today
      </span>
      <span>
        {state === "running" ? "Started" : `${sentenceCase(state)} · started`}{" "}
        <RelativeTime at={started_at} />
      </span>
    </span>
  );
}
