import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useFleetQuery } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/form-controls.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { isSpan, spanLabels } from "../time-spans.ts";
import { type ActivitySearch, outcomes, parseActivitySearch, statuses } from "./search-params.ts";

const route = getRouteApi("/activity");

type Filter = Exclude<keyof ActivitySearch, "tab" | "skipped">;

/** Shows the given filters. Filter values are kept in the URL. */
export function ActivityFilters({
  availableFilters,
  children,
}: {
  availableFilters: readonly Filter[];
  children?: ReactNode;
}) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const options = useFilterOptions(search);
  const activeFilters = availableFilters.filter((name) => search[name] !== undefined);
  const change = (next: Record<string, string | undefined>) =>
    navigate({ search: (current) => parseActivitySearch({ ...current, ...next }), replace: true });
  const clear = () => change(Object.fromEntries(activeFilters.map((name) => [name, undefined])));
  return (
    <search className="mb-3 flex items-center gap-2 overflow-x-auto p-0.5 md:flex-wrap">
      {availableFilters.map((name) => (
        <Select
          key={name}
          data-search={name === "agent" || undefined}
          aria-label={filterLabels[name]}
          value={search[name] ?? ""}
          onChange={({ target }) => change({ [name]: target.value })}
          className="max-w-40 shrink-0"
        >
          <option value="">{emptyLabels[name]}</option>
          {includeChosen(options[name], search[name]).map((option) => (
            <option key={option} value={option}>
              {optionLabel(name, option)}
            </option>
          ))}
        </Select>
      ))}
      {activeFilters.length > 0 && (
        <Button variant="quiet" onClick={clear}>
          Clear
        </Button>
      )}
      {children}
    </search>
  );
}

const filterLabels: Record<Filter, string> = {
  agent: "Agent",
  schedule: "Schedule",
  status: "Status",
  outcome: "Outcome",
  since: "Time range",
  session: "Session",
};

const emptyLabels: Record<Filter, string> = {
  agent: "All agents",
  schedule: "All schedules",
  status: "Any status",
  outcome: "Any outcome",
  since: "Any time",
  session: "All sessions",
};

function optionLabel(filter: Filter, option: string): string {
  if (filter === "since" && isSpan(option)) return spanLabels[option];
  return filter === "status" || filter === "outcome" ? sentenceCase(option) : option;
}

function useFilterOptions({ agent }: ActivitySearch): Record<Filter, readonly string[]> {
  const { data } = useFleetQuery("status");
  const agents = data?.agents ?? [];
  const matchingAgents = agents.filter(({ name }) => agent === undefined || name === agent);
  const schedules = matchingAgents.flatMap((match) => match.schedules.map(({ name }) => name));
  return {
    agent: agents.map(({ name }) => name),
    schedule: [...new Set(schedules)].sort(),
    status: statuses,
    outcome: outcomes,
    since: Object.keys(spanLabels),
    session: [],
  };
}

/** Keeps a selected agent or schedule that no longer exists as an option. */
function includeChosen(options: readonly string[], chosen: string | undefined): readonly string[] {
  return chosen === undefined || options.includes(chosen) ? options : [...options, chosen];
}
