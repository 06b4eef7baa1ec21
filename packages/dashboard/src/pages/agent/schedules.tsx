import { useAnswer } from "../../api/queries.ts";
import { Badge } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Ago, Time } from "../../ui/time.tsx";
import { Ledger } from "./ledger.tsx";
import { ScheduleSwitch } from "./schedule-switch.tsx";

interface SchedulesProps {
  agent: string;
  day: string | undefined;
  onDay(day: string | undefined): void;
}

const near = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  hour: "numeric",
  minute: "2-digit",
});

export function Schedules({ agent, day, onDay }: SchedulesProps) {
  const { data, error } = useAnswer("schedules");
  if (error && !data) return <ErrorNote error={error} />;
  if (!data) return <Loading />;
  const own = data.schedules.filter((schedule) => schedule.agent === agent);
  if (own.length === 0)
    return <Empty title="It has no schedules">It runs when somebody triggers it.</Empty>;
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <div className="flex flex-col gap-4">
        {own.map((schedule) => (
          <Panel
            key={schedule.schedule}
            title={schedule.schedule}
            aside={<ScheduleSwitch schedule={schedule} />}
          >
            <p className="flex flex-wrap items-center gap-2">
              <span>
                {schedule.type} <code className="font-mono text-sm">{schedule.when}</code>
                {schedule.timezone && <span className="text-muted"> {schedule.timezone}</span>}
              </span>
              {schedule.changed && <Badge tone="wait">interval changed by the agent</Badge>}
              {schedule.planned_by !== null && <Badge tone="wait">planned by the agent</Badge>}
              {schedule.gate && <Badge>gate</Badge>}
            </p>
            {schedule.prompt && <p className="mt-1 text-sm text-muted">{schedule.prompt}</p>}
            <p className="mt-2 flex flex-wrap gap-x-3 text-sm text-muted">
              {schedule.next.length === 0 ? "No due time ahead" : "Next:"}
              {schedule.next.map((at) => (
                <Time key={at} at={at} style={near} />
              ))}
            </p>
            {schedule.last && (
              <p className="mt-1 text-sm text-muted">
                Last: {schedule.last.result}
                {schedule.last.reason && ` (${schedule.last.reason.replaceAll("_", " ")})`}{" "}
                <Ago at={schedule.last.due_at} />
              </p>
            )}
          </Panel>
        ))}
      </div>
      <Ledger agent={agent} day={day} onDay={onDay} />
    </div>
  );
}
