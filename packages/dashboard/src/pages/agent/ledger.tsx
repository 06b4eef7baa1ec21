import type { DueRecord } from "@herdctl/server/contract";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { useAnswer } from "../../api/queries.ts";
import { Badge } from "../../ui/badge.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Skeleton } from "../../ui/loading.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Time } from "../../ui/time.tsx";
import { Calendar } from "./calendar.tsx";
import { calendarOf, toneOfResult } from "./calendar-days.ts";

interface LedgerProps {
  agent: string;
  day: string | undefined;
  onDay(day: string | undefined): void;
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });

/** What became of each due time, by day. */
export function Ledger({ agent, day, onDay }: LedgerProps) {
  const { data, error } = useAnswer("dueTimes", { query: { agent, limit: 1000 } });
  const days = useMemo(() => data && calendarOf(data.records, new Date()), [data]);
  const open = days?.find((one) => one.day === day);
  return (
    <Panel title="Due times" aside={data?.next == null ? undefined : "the latest 1,000"}>
      {error && !data && <ErrorNote error={error} />}
      {days ? (
        <Calendar days={days} chosen={day} onChoose={onDay} />
      ) : (
        <Skeleton className="h-56 max-w-md" />
      )}
      {open && (
        <ul aria-label={`Due on ${open.day}`} className="mt-3 max-h-80 overflow-y-auto">
          {open.records.map((record) => (
            <Due key={`${record.schedule} ${record.due_at}`} record={record} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Due({
  record: { due_at, schedule, result, reason, count, job_id },
}: {
  record: DueRecord;
}) {
  const words = [
    result,
    reason?.replaceAll("_", " "),
    count === 1 ? undefined : `${count ?? "many"} times`,
  ];
  return (
    <li className="flex items-center gap-3 border-b border-line py-1 last:border-b-0">
      <span className="w-16 text-sm text-muted">
        <Time at={due_at} style={clock} />
      </span>
      <span className="min-w-0 flex-1 truncate">{schedule}</span>
      <Badge tone={toneOfResult[result]}>{words.filter(Boolean).join(" · ")}</Badge>
      {job_id !== null && (
        <Link
          to="/jobs/$jobId"
          params={{ jobId: job_id }}
          data-row
          className="text-sm text-accent underline"
        >
          job
        </Link>
      )}
    </li>
  );
}
