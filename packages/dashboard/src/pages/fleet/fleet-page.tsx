import { useNavigate, useSearch } from "@tanstack/react-router";
import { useAnswer } from "../../api/queries.ts";
import { useTimeline } from "../../api/timeline.ts";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading, Skeleton } from "../../ui/loading.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { TriggerButton } from "../trigger/trigger-button.tsx";
import { matching } from "./agent-state.ts";
import { FleetCounts } from "./fleet-counts.tsx";
import { FleetFilters } from "./fleet-filters.tsx";
import { FleetList } from "./fleet-list.tsx";
import type { FleetSearch } from "./search.ts";

/** What an agent does right now is in no event, as it changes with every word. */
const lookAgain = 2_000;

export function FleetPage() {
  const search = useSearch({ from: "/" });
  const navigate = useNavigate({ from: "/" });
  const status = useAnswer("status", {}, { refetchInterval: lookAgain });
  const hours = search.hours ?? 6;
  const timeline = useTimeline(hours);
  const change = (next: Partial<FleetSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true });

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
  const shown = matching(agents, search);
  return (
    <>
      <PageHead
        title={fleet.name}
        note={<FleetCounts fleet={fleet} />}
        actions={<TriggerButton />}
      />
      {fleet.problem && (
        <p className="mb-4 rounded border border-warn bg-warn-soft px-3 py-2 whitespace-pre-wrap text-warn">
          {fleet.problem}
        </p>
      )}
      <FleetFilters search={search} agents={agents} onChange={change} />
      {shown.length === 0 ? (
        <NoAgents isEmptyFleet={agents.length === 0} />
      ) : (
        <FleetList agents={shown} jobs={timeline.data?.jobs ?? []} hours={hours} />
      )}
      {timeline.data?.whole === false && (
        <p className="mt-2 text-sm text-muted">
          The strips show the latest {timeline.data.jobs.length} jobs.
        </p>
      )}
    </>
  );
}

function NoAgents({ isEmptyFleet }: { isEmptyFleet: boolean }) {
  if (!isEmptyFleet) return <Empty title="No agent is like that" />;
  return (
    <Empty title="There are no agents yet">
      Describe one in <code className="font-mono">herdctl.yaml</code> and run{" "}
      <code className="font-mono">herdctl reload</code>.
    </Empty>
  );
}
