import type { AgentStatus } from "@herdctl/server/contract";
import { TextInput } from "../../ui/form-controls.tsx";
import { SegmentedControl } from "../../ui/segmented-control.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { filterAgents } from "./agent-state.ts";
import { type FleetSearch, hourSpans, stateFilters } from "./search-params.ts";

interface FleetFiltersProps {
  search: FleetSearch;
  agents: AgentStatus[];
  onChange(next: Partial<FleetSearch>): void;
}

export function FleetFilters({ search, agents, onChange }: FleetFiltersProps) {
  const states = [
    { value: "all", title: `All (${agents.length})` },
    ...stateFilters.map((show) => ({
      value: show,
      title: `${sentenceCase(show)} (${filterAgents(agents, { show }).length})`,
    })),
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
        className="w-full sm:w-52"
      />
      <SegmentedControl
        label="Agent state"
        value={search.show ?? "all"}
        options={states}
        onChange={(value) => onChange({ show: stateFilters.find((show) => show === value) })}
      />
      <div className="sm:ml-auto">
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
