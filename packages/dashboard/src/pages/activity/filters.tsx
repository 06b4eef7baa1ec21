import { getRouteApi } from "@tanstack/react-router";
import { useAnswer } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { type ActivitySearch, outcomes, parseActivitySearch, spans, statuses } from "./search.ts";

const route = getRouteApi("/activity");

type Filter = Exclude<keyof ActivitySearch, "tab">;

/** Which of the filters are offered; all of them stand in the address. */
export function Filters({ offered }: { offered: readonly Filter[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const options = useOptions(search);
  const set = offered.filter((name) => search[name] !== undefined);
  const change = (next: Record<string, string | undefined>) =>
    navigate({ search: (now) => parseActivitySearch({ ...now, ...next }), replace: true });
  const clear = () => change(Object.fromEntries(set.map((name) => [name, undefined])));
  return (
    <search className="mb-3 flex items-center gap-2 overflow-x-auto p-0.5 md:flex-wrap">
      {offered.map((name) => (
        <Select
          key={name}
          data-search={name === "agent" || undefined}
          aria-label={name}
          value={search[name] ?? ""}
          onChange={({ target }) => change({ [name]: target.value })}
          className="max-w-40 shrink-0"
        >
          <option value="">{anything[name]}</option>
          {withChosen(options[name], search[name]).map((option) => (
            <option key={option} value={option}>
              {name === "since" ? `last ${option}` : option.replaceAll("_", " ")}
            </option>
          ))}
        </Select>
      ))}
      {set.length > 0 && (
        <Button look="quiet" onClick={clear}>
          Clear
        </Button>
      )}
    </search>
  );
}

const anything: Record<Filter, string> = {
  agent: "all agents",
  schedule: "all schedules",
  status: "any status",
  outcome: "any outcome",
  since: "any time",
  session: "all sessions",
};

function useOptions({ agent }: ActivitySearch): Record<Filter, readonly string[]> {
  const { data } = useAnswer("status");
  const agents = data?.agents ?? [];
  const own = agents.filter(({ name }) => agent === undefined || name === agent);
  const schedules = own.flatMap((one) => one.schedules.map(({ name }) => name));
  return {
    agent: agents.map(({ name }) => name),
    schedule: [...new Set(schedules)].sort(),
    status: statuses,
    outcome: outcomes,
    since: Object.keys(spans),
    session: [],
  };
}

/** An agent or schedule that is gone can still be looked for. */
function withChosen(options: readonly string[], chosen: string | undefined): readonly string[] {
  return chosen === undefined || options.includes(chosen) ? options : [...options, chosen];
}
