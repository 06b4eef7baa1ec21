import { useFleetQuery } from "../../api/queries.ts";
import { Badge } from "../../ui/badge.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Panel } from "../../ui/panel.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { RelativeTime, Time } from "../../ui/time.tsx";
import { DueTimeCalendar } from "./due-time-calendar.tsx";
import { ScheduleSwitch } from "./schedule-switch.tsx";

interface SchedulesProps {
  agent: string;
  day: string | undefined;
  onDay(day: string | undefined): void;
}

const dateFormat = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  hour: "numeric",
  minute: "2-digit",
});

export function Schedules({ agent, day, onDay }: SchedulesProps) {
  const { data, error } = useFleetQuery("schedules");
  if (error && !data) return <ErrorNote error={error} />;
  if (!data) return <Loading />;
  const schedules = data.schedules.filter((schedule) => schedule.agent === agent);
  if (schedules.length === 0)
    return <EmptyState title="No schedules">This agent runs only when triggered.</EmptyState>;
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <div className="flex flex-col gap-4">
        {schedules.map((schedule) => (
          <Panel
            key={schedule.schedule}
            title={schedule.schedule}
            aside={<ScheduleSwitch schedule={schedule} />}
          >
            <p className="flex flex-wrap items-center gap-2">
              <span>
                {sentenceCase(schedule.type)}:{" "}
                <code className="font-mono text-sm">{schedule.when}</code>
                {schedule.timezone && <span className="text-muted"> {schedule.timezone}</span>}
              </span>
              {schedule.interval_changed && (
                <Badge tone="wait">Interval changed by the agent</Badge>
              )}
              {schedule.scheduled_by !== null && <Badge tone="wait">Created by the agent</Badge>}
              {schedule.gate && <Badge>Gate</Badge>}
            </p>
            {schedule.prompt && <p className="mt-1 text-sm text-muted">{schedule.prompt}</p>}
            <p className="mt-2 flex flex-wrap gap-x-3 text-sm text-muted">
              {schedule.next.length === 0 ? "No upcoming due times" : "Next:"}
              {schedule.next.map((at) => (
                <Time key={at} at={at} style={dateFormat} />
              ))}
            </p>
            {schedule.last && (
              <p className="mt-1 text-sm text-muted">
                Last: {schedule.last.result}
                {schedule.last.reason && ` (${schedule.last.reason.replaceAll("_", " ")})`}{" "}
                <RelativeTime at={schedule.last.due_at} />
              </p>
            )}
          </Panel>
        ))}
      </div>
      <DueTimeCalendar agent={agent} day={day} onDay={onDay} />
    </div>
  );
}
