import { getRouteApi } from "@tanstack/react-router";
import { Button } from "../../ui/button.tsx";
import { Select, TextInput } from "../../ui/field.tsx";
import { actions, parseAuditSearch, spans } from "./search.ts";

const route = getRouteApi("/audit");

export function AuditFilters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Record<string, string | undefined>) =>
    navigate({ search: (now) => parseAuditSearch({ ...now, ...next }), replace: true });
  const isSet = Object.values(search).some((value) => value !== undefined);
  return (
    <search className="mb-3 flex items-center gap-2 overflow-x-auto p-0.5 md:flex-wrap">
      <Select
        aria-label="action"
        value={search.action ?? ""}
        onChange={({ target }) => change({ action: target.value })}
        className="max-w-40 shrink-0"
      >
        <option value="">all actions</option>
        {actions.map((action) => (
          <option key={action}>{action}</option>
        ))}
      </Select>
      <Select
        aria-label="since"
        value={search.since ?? ""}
        onChange={({ target }) => change({ since: target.value })}
        className="max-w-40 shrink-0"
      >
        <option value="">any time</option>
        {Object.keys(spans).map((span) => (
          <option key={span} value={span}>
            last {span}
          </option>
        ))}
      </Select>
      <TextInput
        data-search
        aria-label="identity"
        placeholder="identity, such as token:ci"
        value={search.identity ?? ""}
        onChange={({ target }) => change({ identity: target.value })}
        className="w-56 shrink-0"
      />
      {isSet && (
        <Button look="quiet" onClick={() => navigate({ search: {}, replace: true })}>
          Clear
        </Button>
      )}
    </search>
  );
}
