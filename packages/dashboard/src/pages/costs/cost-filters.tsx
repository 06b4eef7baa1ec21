import { getRouteApi } from "@tanstack/react-router";
import { useFleetQuery } from "../../api/queries.ts";
import { Select } from "../../ui/form-controls.tsx";
import {
  type CostsSearch,
  costDayCounts,
  costGroupings,
  parseCostsSearch,
} from "./search-params.ts";

const route = getRouteApi("/costs");

/** The filters are kept in the URL, so that a view can be bookmarked and shared. */
export function CostFilters() {
  const { by = "agent", days = 30, agent = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const { data } = useFleetQuery("status");
  const names = data?.agents.map(({ name }) => name) ?? [];
  const change = (next: Record<keyof CostsSearch, string | number> | Record<string, unknown>) =>
    navigate({
      search: (current) => ({ ...current, ...parseCostsSearch({ ...current, ...next }) }),
      replace: true,
    });
  return (
    <>
      <Select
        aria-label="Group by"
        value={by}
        onChange={({ target }) => change({ by: target.value })}
      >
        {costGroupings.map((key) => (
          <option key={key} value={key}>
            By {key}
          </option>
        ))}
      </Select>
      <Select
        aria-label="Agent"
        value={agent}
        onChange={({ target }) => change({ agent: target.value })}
      >
        <option value="">All agents</option>
        {[...new Set([...names, ...(agent ? [agent] : [])])].map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Select>
      <Select
        aria-label="Time range"
        value={days}
        onChange={({ target }) => change({ days: target.value })}
      >
        {costDayCounts.map((span) => (
          <option key={span} value={span}>
            Last {span} days
          </option>
        ))}
      </Select>
    </>
  );
}
