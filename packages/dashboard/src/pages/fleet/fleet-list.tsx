import type { AgentStatus, TimelineEntry } from "@herdctl/server/contract";
import { useMemo } from "react";
import { groupBy } from "../../group-by.ts";
import { useNow } from "../../ui/use-now.ts";
import { AgentRow } from "./agent-row.tsx";
import { columnsClass } from "./columns.ts";
import { hourTicks } from "./timeline-marks.ts";

interface FleetListProps {
  agents: AgentStatus[];
  jobs: readonly TimelineEntry[];
  hours: number;
}

const noJobs: TimelineEntry[] = [];
/** How often the timelines move. One second would be less than a pixel. */
const updateStepMs = 15_000;
const minuteFormat = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const hourFormat = new Intl.DateTimeFormat(undefined, { hour: "numeric" });

export function FleetList({ agents, jobs, hours }: FleetListProps) {
  const byAgent = useMemo(() => groupBy(jobs, ({ agent }) => agent), [jobs]);
  const end = Math.ceil(useNow() / updateStepMs) * updateStepMs;
  const start = end - hours * 3_600_000;
  return (
    <div className="rounded-lg border border-line bg-surface">
      <div
        aria-hidden
        className={`${columnsClass} hidden border-b border-line px-3 py-1.5 text-sm font-medium text-muted lg:grid`}
      >
        <span>Agent</span>
        <span>Now</span>
        <HourLabels start={start} end={end} />
        <span>Last run</span>
        <span>Next run</span>
        <span className="text-right">Cost today</span>
      </div>
      <ul aria-label="Agents">
        {agents.map((agent) => (
          <AgentRow
            key={agent.name}
            agent={agent}
            jobs={byAgent.get(agent.name) ?? noJobs}
            start={start}
            end={end}
          />
        ))}
      </ul>
    </div>
  );
}

function HourLabels({ start, end }: { start: number; end: number }) {
  const format = end - start > 3_600_000 ? hourFormat : minuteFormat;
  return (
    <span className="relative h-4">
      {labelledTicks(start, end).map((tick) => (
        <span
          key={tick}
          className="absolute -translate-x-1/2 text-xs whitespace-nowrap"
          style={{ left: `${((tick - start) / (end - start)) * 100}%` }}
        >
          {format.format(tick)}
        </span>
      ))}
    </span>
  );
}

/** The ticks with room for a label: all but those at the edges. */
function labelledTicks(start: number, end: number): number[] {
  const edgeMs = (end - start) * 0.06;
  return hourTicks(start, end).filter((tick) => tick > start + edgeMs && tick < end - edgeMs);
}
