import type { DueTimeRecord } from "@herdctl/server/contract";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { useFleetQuery } from "../../api/queries.ts";
import { Badge } from "../../ui/badge.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Skeleton } from "../../ui/loading.tsx";
import { Panel } from "../../ui/panel.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Time } from "../../ui/time.tsx";
import { timeFormats } from "../../ui/time-formats.ts";
import { Calendar } from "./calendar.tsx";
import { toCalendarDays, toneByResult } from "./calendar-days.ts";

interface DueTimeCalendarProps {
  agent: string;
  day: string | undefined;
  onDay(day: string | undefined): void;
}

/** The result of each due time, by day. */
export function DueTimeCalendar({ agent, day, onDay }: DueTimeCalendarProps) {
  const { data, error } = useFleetQuery("dueTimes", { query: { agent, limit: 1000 } });
  const days = useMemo(() => data && toCalendarDays(data.due_times, new Date()), [data]);
  const openDay = days?.find((candidate) => candidate.day === day);
  return (
    <Panel title="Due times" aside={data?.next_cursor == null ? undefined : "Latest 1,000"}>
      {error && !data && <ErrorNote error={error} />}
      {days ? (
        <Calendar days={days} chosen={day} onChoose={onDay} />
      ) : (
        <Skeleton className="h-56 max-w-md" />
      )}
      {openDay && (
        <ul aria-label={`Due on ${openDay.day}`} className="mt-3 max-h-80 overflow-y-auto">
          {openDay.records.map((record) => (
            <DueTimeItem key={`${record.schedule} ${record.due_at}`} record={record} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function DueTimeItem({
  record: { due_at, schedule, result, reason, count, job_id },
}: {
  record: DueTimeRecord;
}) {
  const details = [
    sentenceCase(result),
    reason?.replaceAll("_", " "),
    count === 1 ? undefined : `${count ?? "many"} times`,
  ];
  return (
    <li className="flex items-center gap-3 border-b border-line py-1 last:border-b-0">
      <span className="w-16 text-sm text-muted">
        <Time at={due_at} style={timeFormats.minute} />
      </span>
      <span className="min-w-0 flex-1 truncate">{schedule}</span>
      <Badge tone={toneByResult[result]}>{details.filter(Boolean).join(" · ")}</Badge>
      {job_id !== null && (
        <Link
          to="/jobs/$jobId"
          params={{ jobId: job_id }}
          data-row
          className="text-sm text-accent underline"
        >
          View job
        </Link>
      )}
    </li>
  );
}
