import { getRouteApi } from "@tanstack/react-router";
import { useAnswer } from "../../api/queries.ts";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Budgets } from "./budgets.tsx";
import { CostChart } from "./cost-chart.tsx";
import { CostFilters } from "./cost-filters.tsx";
import { CostTable } from "./cost-table.tsx";

const route = getRouteApi("/costs");

export function CostsPage() {
  const { by = "agent", days = 30, agent } = route.useSearch();
  const costs = useAnswer("costs", { query: { by, days, agent } });
  const { data } = costs;
  return (
    <>
      <PageHead
        title="Costs"
        note={data && `Days as they are counted in ${data.timezone}`}
        actions={<CostFilters />}
      />
      {costs.error && <ErrorNote error={costs.error} onRetry={costs.refetch} />}
      <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-[minmax(0,2fr)_minmax(20rem,1fr)]">
        <Panel title={`The last ${days} days`}>
          {data ? <CostChart view={data} by={by} /> : !costs.error && <Loading lines={7} />}
        </Panel>
        <Budgets />
        <Panel title={`By ${by}`} flush className="xl:col-span-2">
          {data && data.lines.length > 0 && <CostTable view={data} by={by} />}
          {data?.lines.length === 0 && (
            <div className="p-3">
              <Empty title="Nothing ran in these days">
                What runs cost stands here as soon as the first one has ended.
              </Empty>
            </div>
          )}
          {!data && !costs.error && <Loading />}
        </Panel>
      </div>
    </>
  );
}
