import type { AgentStatus } from "@herdctl/server/contract";
import { Choice } from "../../ui/choice.tsx";
import { TextInput } from "../../ui/field.tsx";
import { matching } from "./agent-state.ts";
import { type FleetSearch, shows, spans } from "./search.ts";

interface FleetFiltersProps {
  search: FleetSearch;
  agents: AgentStatus[];
  onChange(next: Partial<FleetSearch>): void;
}

export function FleetFilters({ search, agents, onChange }: FleetFiltersProps) {
  const states = [
    { value: "all", title: `All ${agents.length}` },
    ...shows.map((show) => ({
      value: show,
      title: `${show} ${matching(agents, { show }).length}`,
    })),
  ];
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <TextInput
        type="search"
        data-search
        aria-label="Find an agent"
        placeholder="Find an agent ( / )"
        value={search.q ?? ""}
        onChange={(event) => onChange({ q: event.target.value || undefined })}
        className="w-full sm:w-52"
      />
      <Choice
        label="Which agents"
        value={search.show ?? "all"}
        options={states}
        onChange={(value) => onChange({ show: shows.find((show) => show === value) })}
      />
      <div className="sm:ml-auto">
        <Choice
          label="How far back"
          value={String(search.hours ?? 6)}
          options={spans.map((span) => ({ value: String(span), title: `${span} h` }))}
          onChange={(value) => onChange({ hours: spans.find((span) => String(span) === value) })}
        />
      </div>
    </div>
  );
}
