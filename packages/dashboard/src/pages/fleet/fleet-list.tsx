import type { AgentStatus, TimelineEntry } from "@herdctl/server/contract";
import { useMemo } from "react";
import { grouped } from "../../grouped.ts";
import { useNow } from "../../ui/now.ts";
import { AgentRow } from "./agent-row.tsx";
import { columns } from "./columns.ts";
import { ticksOf } from "./strip-marks.ts";

interface FleetListProps {
  agents: AgentStatus[];
  jobs: readonly TimelineEntry[];
  hours: number;
}

const none: TimelineEntry[] = [];
/** The strips move on at this pace: a second is no more than a hair on them. */
const step = 15_000;
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const hourly = new Intl.DateTimeFormat(undefined, { hour: "numeric" });

export function FleetList({ agents, jobs, hours }: FleetListProps) {
  const byAgent = useMemo(() => grouped(jobs, ({ agent }) => agent), [jobs]);
  const end = Math.ceil(useNow() / step) * step;
  const start = end - hours * 3_600_000;
  return (
    <div className="rounded-lg border border-line bg-surface">
      <div
        aria-hidden
        className={`${columns} hidden border-b border-line px-3 py-1.5 text-sm font-medium text-muted lg:grid`}
      >
        <span>Agent</span>
        <span>Now</span>
        <Hours start={start} end={end} />
        <span>Last</span>
        <span>Next</span>
        <span className="text-right">Today</span>
      </div>
      <ul aria-label="Agents">
        {agents.map((agent) => (
          <AgentRow
            key={agent.name}
            agent={agent}
            jobs={byAgent.get(agent.name) ?? none}
            start={start}
            end={end}
          />
        ))}
      </ul>
    </div>
  );
}

function Hours({ start, end }: { start: number; end: number }) {
  const words = end - start > 3_600_000 ? hourly : clock;
  return (
    <span className="relative h-4">
      {labelled(start, end).map((tick) => (
        <span
          key={tick}
          className="absolute -translate-x-1/2 text-xs whitespace-nowrap"
          style={{ left: `${((tick - start) / (end - start)) * 100}%` }}
        >
          {words.format(tick)}
        </span>
      ))}
    </span>
  );
}

/** Those that have room for their words: not the ones at the very ends. */
function labelled(start: number, end: number): number[] {
  const edge = (end - start) * 0.06;
  return ticksOf(start, end).filter((tick) => tick > start + edge && tick < end - edge);
}
