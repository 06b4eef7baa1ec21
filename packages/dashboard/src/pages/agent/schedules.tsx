import type { ScheduleView } from "@herdctl/server/contract";
import { Link } from "@tanstack/react-router";
import { useFleetQuery } from "../../api/queries.ts";
import { Badge } from "../../ui/badge.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Panel } from "../../ui/panel.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { RelativeTime, Time } from "../../ui/time.tsx";
import { timeFormats } from "../../ui/time-formats.ts";
import { DueTimeCalendar } from "./due-time-calendar.tsx";
import { RunNowButton } from "./run-now-button.tsx";
import { ScheduleSwitch } from "./schedule-switch.tsx";

interface SchedulesProps {
  agent: string;
  day: string | undefined;
  onDay(day: string | undefined): void;
}

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
            aside={
              <span className="flex flex-wrap items-center gap-2">
                {schedule.type !== "webhook" && <RunNowButton schedule={schedule} />}
                <ScheduleSwitch schedule={schedule} />
              </span>
            }
          >
            <p className="flex flex-wrap items-center gap-2">
              <span>
                {sentenceCase(schedule.type)}:{" "}
                {schedule.type !== "webhook" && (
                  <code className="font-mono text-sm">{schedule.when}</code>
                )}
                {schedule.timezone && <span className="text-muted"> {schedule.timezone}</span>}
              </span>
              {schedule.interval_changed && (
                <Badge tone="wait">Interval changed by the agent</Badge>
              )}
              {schedule.scheduled_by !== null && <Badge tone="wait">Created by the agent</Badge>}
              {schedule.gate && <Badge>Gate</Badge>}
            </p>
            {schedule.type === "webhook" && <WebhookUrl schedule={schedule} />}
            {schedule.prompt && <p className="mt-1 text-sm text-muted">{schedule.prompt}</p>}
            {schedule.type !== "webhook" && (
              <p className="mt-2 flex flex-wrap gap-x-3 text-sm text-muted">
                {schedule.next.length === 0 ? "No upcoming due times" : "Next:"}
                {schedule.next.map((at) => (
                  <Time key={at} at={at} style={timeFormats.weekdayAndMinute} />
                ))}
              </p>
            )}
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
      {schedules.some(({ type }) => type !== "webhook") && (
        <DueTimeCalendar agent={agent} day={day} onDay={onDay} />
      )}
    </div>
  );
}

/** The URL to paste into the sender's settings, as this browser reaches the fleet. */
function WebhookUrl({ schedule: { agent, schedule } }: { schedule: ScheduleView }) {
  const path = [agent, schedule].map(encodeURIComponent).join("/");
  return (
    <div className="mt-2">
      <CodeBlock label={`URL of ${schedule}`} text={`${location.origin}/hooks/${path}`} />
      <p className="mt-1 text-sm text-muted">
        Behind a tunnel or a proxy, replace the host with the public one.{" "}
        <Link
          to="/activity"
          search={{ tab: "deliveries", agent }}
          className="text-accent underline"
        >
          View deliveries
        </Link>
      </p>
    </div>
  );
}
