import { getRouteApi } from "@tanstack/react-router";
import { Button } from "../../ui/button.tsx";
import { Select, TextInput } from "../../ui/form-controls.tsx";
import { spanLabels } from "../time-spans.ts";
import { actions, parseAuditSearch } from "./search-params.ts";

const route = getRouteApi("/audit");

export function AuditFilters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Record<string, string | undefined>) =>
    navigate({ search: (current) => parseAuditSearch({ ...current, ...next }), replace: true });
  const isSet = Object.values(search).some((value) => value !== undefined);
  return (
    <search className="mb-3 flex items-center gap-2 overflow-x-auto p-0.5 md:flex-wrap">
      <Select
        aria-label="Action"
        value={search.action ?? ""}
        onChange={({ target }) => change({ action: target.value })}
        className="max-w-40 shrink-0"
      >
        <option value="">All actions</option>
        {actions.map((action) => (
          <option key={action}>{action}</option>
        ))}
      </Select>
      <Select
        aria-label="Time range"
        value={search.since ?? ""}
        onChange={({ target }) => change({ since: target.value })}
        className="max-w-40 shrink-0"
      >
        <option value="">Any time</option>
        {Object.entries(spanLabels).map(([span, label]) => (
          <option key={span} value={span}>
            {label}
          </option>
        ))}
      </Select>
      <TextInput
        data-search
        aria-label="Identity"
        placeholder="Identity, such as token:ci"
        value={search.identity ?? ""}
        onChange={({ target }) => change({ identity: target.value })}
        className="w-56 shrink-0"
      />
      {isSet && (
        <Button variant="quiet" onClick={() => navigate({ search: {}, replace: true })}>
          Clear
        </Button>
      )}
    </search>
  );
}
