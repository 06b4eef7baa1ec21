import { getRouteApi, Link } from "@tanstack/react-router";
import { type Answer, ask } from "../../api/ask.ts";
import { usePages } from "../../api/pages.ts";
import { useAnswer } from "../../api/queries.ts";
import { Badge } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Ago, Time } from "../../ui/time.tsx";
import type { Tone } from "../../ui/tone.ts";
import { Filters } from "./filters.tsx";
import { PagedList } from "./paged-list.tsx";

const route = getRouteApi("/activity");

export function DueTab() {
  const { agent, schedule } = route.useSearch();
  const query = { agent, schedule, limit: 100 };
  const pages = usePages<Answer<"dueTimes">>("dueTimes", query, (cursor, signal) =>
    ask("dueTimes", { query: { ...query, cursor }, signal }),
  );
  return (
    <>
      <Filters offered={["agent", "schedule"]} />
      <Coming agent={agent} schedule={schedule} />
      <PagedList
        label="Due times"
        pages={pages}
        items={pages.data?.pages.flatMap(({ records }) => records)}
        keyOf={(due) => `${due.agent}/${due.schedule}/${due.due_at}`}
        lineHeight={37}
        empty={
          <Empty title="Nothing has come due yet">
            What became of each due time of a schedule stands here: that it ran, or why it did not.
          </Empty>
        }
      >
        {(due) => <DueLine due={due} />}
      </PagedList>
    </>
  );
}

const soon = 5;
const toTheMinute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

function Coming({ agent, schedule }: { agent?: string; schedule?: string }) {
  const { data } = useAnswer("schedules");
  const next = (data?.schedules ?? [])
    .filter((one) => one.enabled && (agent ?? one.agent) === one.agent)
    .filter((one) => (schedule ?? one.schedule) === one.schedule)
    .flatMap((one) => one.next.map((at) => ({ at, agent: one.agent, schedule: one.schedule })))
    .sort((a, b) => a.at.localeCompare(b.at))
    .slice(0, soon);
  if (next.length === 0) return null;
  return (
    <Panel title="Coming next" className="mb-3">
      <ul className="flex flex-col gap-1">
        {next.map((one) => (
          <li key={`${one.agent}/${one.schedule}/${one.at}`} className="flex gap-3">
            <span className="w-20 text-muted">
              <Ago at={one.at} />
            </span>
            <span className="min-w-0 truncate">
              {one.agent} · {one.schedule}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

type Due = Answer<"dueTimes">["records"][number];
const tones: Record<Due["result"], Tone> = { ran: "ok", skipped: "idle", missed: "warn" };

function DueLine({ due }: { due: Due }) {
  const times = due.count === null ? "many" : due.count;
  return (
    <div className="grid grid-cols-[5.5rem_minmax(0,1fr)_auto] items-center gap-x-4 px-3 py-1.5 md:grid-cols-[6.5rem_minmax(0,1fr)_minmax(0,1fr)_12rem]">
      <span>
        <Badge tone={tones[due.result]}>
          {due.result}
          {times !== 1 && ` × ${times}`}
        </Badge>
      </span>
      <span className="truncate">
        {due.agent} · {due.schedule}
      </span>
      <span className="hidden truncate text-sm text-muted md:block">
        {due.job_id ? (
          <Link to="/jobs/$jobId" params={{ jobId: due.job_id }} className="hover:underline">
            {due.reason?.replaceAll("_", " ") ?? due.job_id}
          </Link>
        ) : (
          due.reason?.replaceAll("_", " ")
        )}
      </span>
      <span className="text-right text-sm text-muted">
        <span className="hidden md:inline">
          <Time at={due.due_at} style={toTheMinute} />
        </span>
        <span className="md:hidden">
          <Ago at={due.due_at} />
        </span>
      </span>
    </div>
  );
}
