import { getRouteApi, Link } from "@tanstack/react-router";
import { callFleet, type ResponseOfRoute } from "../../api/call-fleet.ts";
import { useFleetQuery } from "../../api/queries.ts";
import { usePages } from "../../api/use-pages.ts";
import { Badge } from "../../ui/badge.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Panel } from "../../ui/panel.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { RelativeTime, Time } from "../../ui/time.tsx";
import { timeFormats } from "../../ui/time-formats.ts";
import type { Tone } from "../../ui/tone.ts";
import { ActivityFilters } from "./activity-filters.tsx";
import { PagedList } from "./paged-list.tsx";

const route = getRouteApi("/activity");

export function DueTimesTab() {
  const { agent, schedule } = route.useSearch();
  const query = { agent, schedule, limit: 100 };
  const pages = usePages<ResponseOfRoute<"dueTimes">>("dueTimes", query, (cursor, signal) =>
    callFleet("dueTimes", { query: { ...query, cursor }, signal }),
  );
  return (
    <>
      <ActivityFilters availableFilters={["agent", "schedule"]} />
      <UpcomingDueTimes agent={agent} schedule={schedule} />
      <PagedList
        label="Due times"
        pages={pages}
        items={pages.data?.pages.flatMap(({ due_times }) => due_times)}
        keyOf={(due) => `${due.agent}/${due.schedule}/${due.due_at}`}
        lineHeight={37}
        header={<DueTimeHeader />}
        empty={
          <EmptyState title="No due times yet">
            Each due time of a schedule appears here, with its job or the reason it did not run.
          </EmptyState>
        }
      >
        {(due) => <DueTimeLine due={due} />}
      </PagedList>
    </>
  );
}

const maxUpcoming = 5;

function UpcomingDueTimes({ agent, schedule }: { agent?: string; schedule?: string }) {
  const { data } = useFleetQuery("schedules");
  const upcoming = (data?.schedules ?? [])
    .filter((view) => view.enabled && (agent ?? view.agent) === view.agent)
    .filter((view) => (schedule ?? view.schedule) === view.schedule)
    .flatMap((view) => view.next.map((at) => ({ at, agent: view.agent, schedule: view.schedule })))
    .sort((a, b) => a.at.localeCompare(b.at))
    .slice(0, maxUpcoming);
  if (upcoming.length === 0) return null;
  return (
    <Panel title="Upcoming" className="mb-3">
      <ul className="flex flex-col gap-1">
        {upcoming.map((due) => (
          <li key={`${due.agent}/${due.schedule}/${due.at}`} className="flex gap-3">
            <span className="w-28 text-muted">
              <RelativeTime at={due.at} />
            </span>
            <span className="min-w-0 truncate">
              {due.agent} · {due.schedule}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

type DueTime = ResponseOfRoute<"dueTimes">["due_times"][number];
const toneByResult: Record<DueTime["result"], Tone> = {
  ran: "ok",
  skipped: "idle",
  missed: "warn",
};

const columnsClass =
  "grid grid-cols-[5.5rem_minmax(0,1fr)_auto] items-center gap-x-4 px-3 py-1.5 md:grid-cols-[6.5rem_minmax(0,1fr)_minmax(0,1fr)_8rem]";

function DueTimeHeader() {
  return (
    <div className={`${columnsClass} text-sm font-medium text-muted max-md:hidden`}>
      <span>Result</span>
      <span>Agent and schedule</span>
      <span>Job or reason</span>
      <span className="text-right">Due</span>
    </div>
  );
}

function DueTimeLine({ due }: { due: DueTime }) {
  const times = due.count ?? "many";
  const reason = due.reason === null ? undefined : sentenceCase(due.reason);
  return (
    <div className={columnsClass}>
      <span>
        <Badge tone={toneByResult[due.result]}>
          {sentenceCase(due.result)}
          {times !== 1 && ` × ${times}`}
        </Badge>
      </span>
      <span className="truncate">
        {due.agent} · {due.schedule}
      </span>
      <span className="hidden truncate text-sm text-muted md:block">
        {due.job_id ? (
          <Link to="/jobs/$jobId" params={{ jobId: due.job_id }} className="hover:underline">
            {reason ?? due.job_id}
          </Link>
        ) : (
          reason
        )}
      </span>
      <span className="text-right text-sm text-muted">
        <span className="hidden md:inline">
          <Time at={due.due_at} style={timeFormats.dayAndMinute} />
        </span>
        <span className="md:hidden">
          <RelativeTime at={due.due_at} />
        </span>
      </span>
    </div>
  );
}
