import type { FleetStatus } from "@herdctl/server/contract";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Money, RelativeTime } from "../../ui/time.tsx";

export function FleetCounts({ fleet }: { fleet: FleetStatus["fleet"] }) {
  const { running, waiting, pending, state, started_at, cost_today_usd } = fleet;
  return (
    <span className="flex flex-wrap gap-x-3">
      <span>{running} running</span>
      <span>{waiting} waiting</span>
      <span>{pending} queued</span>
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
