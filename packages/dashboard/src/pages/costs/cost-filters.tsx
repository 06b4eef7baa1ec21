import { getRouteApi } from "@tanstack/react-router";
import { useAnswer } from "../../api/queries.ts";
import { Select } from "../../ui/field.tsx";
import { type CostsSearch, costKeys, costSpans, parseCostsSearch } from "./search.ts";

const route = getRouteApi("/costs");

/** What is shown stands in the address: it can be kept and sent to somebody. */
export function CostFilters() {
  const { by = "agent", days = 30, agent = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const { data } = useAnswer("status");
  const names = data?.agents.map(({ name }) => name) ?? [];
  const change = (next: Record<keyof CostsSearch, string | number> | Record<string, unknown>) =>
    navigate({
      search: (now) => ({ ...now, ...parseCostsSearch({ ...now, ...next }) }),
      replace: true,
    });
  return (
    <>
      <Select
        aria-label="Told apart by"
        value={by}
        onChange={({ target }) => change({ by: target.value })}
      >
        {costKeys.map((key) => (
          <option key={key} value={key}>
            by {key}
          </option>
        ))}
      </Select>
      <Select
        aria-label="Of which agent"
        value={agent}
        onChange={({ target }) => change({ agent: target.value })}
      >
        <option value="">all agents</option>
        {[...new Set([...names, ...(agent ? [agent] : [])])].map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Select>
      <Select
        aria-label="How many days"
        value={days}
        onChange={({ target }) => change({ days: target.value })}
      >
        {costSpans.map((span) => (
          <option key={span} value={span}>
            {span} days
          </option>
        ))}
      </Select>
    </>
  );
}
