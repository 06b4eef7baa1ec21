import type { TimelineEntry } from "@herdctl/server/contract";
import { useMemo } from "react";
import { groupBy } from "../../group-by.ts";
import { timeFormats } from "../../ui/time-formats.ts";
import { useNow } from "../../ui/use-now.ts";
import { AgentRow } from "./agent-row.tsx";
import type { AgentGroup } from "./arrange-agents.ts";
import { columnsClass } from "./columns.ts";
import { type Density, sortTitles } from "./fleet-filters.tsx";
import type { SortKey } from "./search-params.ts";
import { hourTicks } from "./timeline-marks.ts";

interface FleetListProps {
  groups: AgentGroup[];
  jobs: readonly TimelineEntry[];
  hours: number;
  density: Density;
  sort: SortKey | undefined;
  onSort(next: SortKey | undefined): void;
}

const noJobs: TimelineEntry[] = [];
/** How often the timelines move. One second would be less than a pixel. */
const updateStepMs = 15_000;

export function FleetList({ groups, jobs, hours, density, sort, onSort }: FleetListProps) {
  const byAgent = useMemo(() => groupBy(jobs, ({ agent }) => agent), [jobs]);
  const end = Math.ceil(useNow() / updateStepMs) * updateStepMs;
  const start = end - hours * 3_600_000;
  const title = (key: SortKey) => (
    <SortTitle sortKey={key} isCurrent={sort === key} onSort={onSort} />
  );
  return (
    <div className="rounded-lg border border-line bg-surface">
      <div
        className={`${columnsClass} sticky top-0 z-10 hidden rounded-t-lg border-b border-line bg-surface px-3 py-1.5 text-sm font-medium text-muted lg:grid`}
      >
        <span className="flex gap-2">
          <span className="w-19 shrink-0">{title("state")}</span>
          {title("name")}
        </span>
        <span>Now</span>
        <HourLabels start={start} end={end} />
        {title("last")}
        {title("next")}
        <span className="text-right">{title("cost")}</span>
      </div>
      {groups.map((group) => (
        <section key={group.title ?? ""} aria-label={group.title ?? undefined}>
          {group.title !== null && (
            <h2 className="border-b border-line bg-sunken px-3 py-1 text-sm font-semibold">
              {group.title} <span className="font-normal text-muted">{group.agents.length}</span>
            </h2>
          )}
          <ul aria-label={group.title === null ? "Agents" : `Agents: ${group.title}`}>
            {group.agents.map((agent) => (
              <AgentRow
                key={agent.name}
                agent={agent}
                jobs={byAgent.get(agent.name) ?? noJobs}
                start={start}
                end={end}
                isCompact={density === "compact"}
              />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

interface SortTitleProps {
  sortKey: SortKey;
  isCurrent: boolean;
  onSort(next: SortKey | undefined): void;
}

/** Sorts by a column. A second click returns to the order of the configuration. */
function SortTitle({ sortKey, isCurrent, onSort }: SortTitleProps) {
  return (
    <button
      type="button"
      aria-pressed={isCurrent}
      onClick={() => onSort(isCurrent ? undefined : sortKey)}
      className="justify-self-start whitespace-nowrap hover:text-text aria-pressed:text-text"
    >
      {sortTitles[sortKey]}
      <span aria-hidden className={isCurrent ? "ml-1" : "hidden"}>
        ▾
      </span>
    </button>
  );
}

function HourLabels({ start, end }: { start: number; end: number }) {
  return (
    <span className="relative h-4">
      {labelledTicks(start, end).map((tick) => (
        <span
          key={tick}
          className="absolute -translate-x-1/2 text-xs whitespace-nowrap"
          style={{ left: `${((tick - start) / (end - start)) * 100}%` }}
        >
          {timeFormats.minute.format(tick)}
        </span>
      ))}
    </span>
  );
}

const maxLabels = 3;

/** The ticks with room for a label: not those at the edges, and few enough for a narrow column. */
function labelledTicks(start: number, end: number): number[] {
  const edgeMs = (end - start) * 0.1;
  const ticks = hourTicks(start, end).filter(
    (tick) => tick > start + edgeMs && tick < end - edgeMs,
  );
  const step = Math.ceil(ticks.length / maxLabels);
  return ticks.filter((_, index) => index % step === 0);
}
