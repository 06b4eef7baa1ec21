import { Toggle } from "@base-ui/react/toggle";
import type { AgentStatus } from "@herdctl/server/contract";
import { Select, TextInput } from "../../ui/form-controls.tsx";
import { SegmentedControl } from "../../ui/segmented-control.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { filterAgents } from "./arrange-agents.ts";
import {
  type FleetSearch,
  groupKeys,
  hourSpans,
  type SortKey,
  sortKeys,
  stateFilters,
} from "./search-params.ts";

export const densities = ["comfortable", "compact"] as const;
export type Density = (typeof densities)[number];

export const sortTitles: Record<SortKey, string> = {
  name: "Agent",
  state: "State",
  last: "Last run",
  next: "Next run",
  cost: "Cost today",
};

interface FleetFiltersProps {
  search: FleetSearch;
  agents: AgentStatus[];
  density: Density;
  onChange(next: Partial<FleetSearch>): void;
  onDensity(next: Density): void;
}

export function FleetFilters({ search, agents, density, onChange, onDensity }: FleetFiltersProps) {
  const states = [
    { value: "all", title: "All" },
    ...stateFilters.map((show) => {
      const count = filterAgents(agents, { show }).length;
      return { value: show, title: `${sentenceCase(show)}${count === 0 ? "" : ` (${count})`}` };
    }),
  ];
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <TextInput
        type="search"
        data-search
        aria-label="Find an agent"
        placeholder="Find an agent (press /)"
        value={search.q ?? ""}
        onChange={(event) => onChange({ q: event.target.value || undefined })}
        className="w-full sm:w-44"
      />
      <SegmentedControl
        label="Agent state"
        value={search.show ?? "all"}
        options={states}
        onChange={(value) => onChange({ show: stateFilters.find((show) => show === value) })}
      />
      <div className="flex flex-wrap items-center gap-2 sm:ml-auto">
        <Select
          aria-label="Sort by"
          className="lg:hidden"
          value={search.sort ?? ""}
          onChange={({ target }) =>
            onChange({ sort: sortKeys.find((key) => key === target.value) })
          }
        >
          <option value="">As configured</option>
          {sortKeys.map((key) => (
            <option key={key} value={key}>
              By {sortTitles[key].toLowerCase()}
            </option>
          ))}
        </Select>
        <Select
          aria-label="Group by"
          value={search.group ?? ""}
          onChange={({ target }) =>
            onChange({ group: groupKeys.find((key) => key === target.value) })
          }
        >
          <option value="">Not grouped</option>
          <option value="fleet">Group by fleet</option>
          <option value="label">Group by label</option>
        </Select>
        <Toggle
          pressed={density === "compact"}
          onPressedChange={(isCompact) => onDensity(isCompact ? "compact" : "comfortable")}
          title="Less space per agent"
          className="h-8 rounded border border-line-strong bg-surface px-2.5 text-muted hover:bg-hover data-pressed:bg-hover data-pressed:font-medium data-pressed:text-text"
        >
          Compact
        </Toggle>
        <SegmentedControl
          label="Time range"
          value={String(search.hours ?? 6)}
          options={hourSpans.map((span) => ({ value: String(span), title: `${span} h` }))}
          onChange={(value) =>
            onChange({ hours: hourSpans.find((span) => String(span) === value) })
          }
        />
      </div>
    </div>
  );
}
