import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useFleetQuery } from "../../api/queries.ts";
import { useTimeline } from "../../api/use-timeline.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading, Skeleton } from "../../ui/loading.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { useStoredChoice } from "../../ui/use-stored-choice.ts";
import { TriggerButton } from "../trigger/trigger-button.tsx";
import { arrangeAgents } from "./arrange-agents.ts";
import { FleetCounts } from "./fleet-counts.tsx";
import { densities, FleetFilters } from "./fleet-filters.tsx";
import { FleetList } from "./fleet-list.tsx";
import type { FleetSearch } from "./search-params.ts";

/** Events do not report an agent's current activity, because it changes too often. */
const pollIntervalMs = 2_000;

export function FleetPage() {
  const search = useSearch({ from: "/" });
  const navigate = useNavigate({ from: "/" });
  const status = useFleetQuery("status", {}, { refetchInterval: pollIntervalMs });
  const hours = search.hours ?? 6;
  const timeline = useTimeline(hours);
  const isAdmin = useFleetQuery("access").data?.scope === "admin";
  const [density, setDensity] = useStoredChoice("density", densities);
  const change = (next: Partial<FleetSearch>) =>
    void navigate({ search: (current) => ({ ...current, ...next }), replace: true });

  if (!status.data) {
    if (status.error)
      return <ErrorNote error={status.error} onRetry={() => void status.refetch()} />;
    return (
      <>
        <Skeleton className="mb-4 h-10 w-64" />
        <Loading lines={8} />
      </>
    );
  }
  const { fleet, agents } = status.data;
  const groups = arrangeAgents(agents, search);
  return (
    <>
      <PageHeader
        title={fleet.name}
        note={<FleetCounts fleet={fleet} agents={agents} />}
        actions={
          <>
            {isAdmin && (
              <Link
                to="/new-agent"
                className="inline-flex h-8 items-center rounded border border-line-strong bg-surface px-3 font-medium hover:bg-hover"
              >
                Add agent
              </Link>
            )}
            <TriggerButton />
          </>
        }
      />
      {fleet.problem && (
        <p className="mb-4 rounded border border-warn bg-warn-soft px-3 py-2 whitespace-pre-wrap text-warn">
          {fleet.problem}
        </p>
      )}
      <FleetFilters
        search={search}
        agents={agents}
        density={density}
        onChange={change}
        onDensity={setDensity}
      />
      {groups.every((group) => group.agents.length === 0) ? (
        <NoAgents isEmptyFleet={agents.length === 0} />
      ) : (
        <FleetList
          groups={groups}
          jobs={timeline.data?.jobs ?? []}
          hours={hours}
          density={density}
          sort={search.sort}
          onSort={(sort) => change({ sort })}
        />
      )}
      {timeline.data?.complete === false && (
        <p className="mt-2 text-sm text-muted">
          The timelines show only the latest {timeline.data.jobs.length.toLocaleString("en")} jobs.
        </p>
      )}
    </>
  );
}

function NoAgents({ isEmptyFleet }: { isEmptyFleet: boolean }) {
  if (!isEmptyFleet) return <EmptyState title="No matching agents" />;
  return (
    <EmptyState title="No agents yet">
      Add one to <code className="font-mono">herdctl.yaml</code> and run{" "}
      <code className="font-mono">herdctl reload</code>.
    </EmptyState>
  );
}
