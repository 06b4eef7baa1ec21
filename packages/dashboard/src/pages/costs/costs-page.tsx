import { getRouteApi } from "@tanstack/react-router";
import { useFleetQuery } from "../../api/queries.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Budgets } from "./budgets.tsx";
import { CostChart } from "./cost-chart.tsx";
import { CostFilters } from "./cost-filters.tsx";
import { CostTable } from "./cost-table.tsx";

const route = getRouteApi("/costs");

export function CostsPage() {
  const { by = "agent", days = 30, agent } = route.useSearch();
  const costs = useFleetQuery("costs", { query: { by, days, agent } });
  const { data } = costs;
  return (
    <>
      <PageHeader
        title="Costs"
        note={data && `Days are in the fleet's time zone, ${data.timezone}`}
        actions={<CostFilters />}
      />
      {costs.error && <ErrorNote error={costs.error} onRetry={costs.refetch} />}
      <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-[minmax(0,2fr)_minmax(20rem,1fr)]">
        <Panel title={`Last ${days} days`}>
          {data ? <CostChart view={data} by={by} /> : !costs.error && <Loading lines={7} />}
        </Panel>
        <Budgets />
        <Panel title={`By ${by}`} flush className="xl:col-span-2">
          {data && data.rows.length > 0 && <CostTable view={data} by={by} />}
          {data?.rows.length === 0 && (
            <div className="p-3">
              <EmptyState title="No runs in this period">
                Costs appear here when the first run has finished.
              </EmptyState>
            </div>
          )}
          {!data && !costs.error && <Loading />}
        </Panel>
      </div>
    </>
  );
}
