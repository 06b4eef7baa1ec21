import type { AgentStatus, TimelineEntry } from "@herdctl/server/contract";
import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { Badge } from "../../ui/badge.tsx";
import { Dot, OutcomeCodeBadge } from "../../ui/outcome-badge.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Elapsed, Money, RelativeTime } from "../../ui/time.tsx";
import { describeWork, toAgentState } from "./agent-state.ts";
import { columnsClass } from "./columns.ts";
import { TimelineStrip } from "./timeline-strip.tsx";

interface AgentRowProps {
  agent: AgentStatus;
  jobs: readonly TimelineEntry[];
  start: number;
  end: number;
}

export const AgentRow = memo(function AgentRow({ agent, jobs, start, end }: AgentRowProps) {
  const { label, tone } = toAgentState(agent);
  return (
    <li
      className={`${columnsClass} gap-y-2 border-b border-line px-3 py-2 last:border-b-0 hover:bg-hover`}
    >
      <div className="col-span-2 flex min-w-0 items-center gap-2 lg:col-span-1">
        <span className="w-19 shrink-0">
          <Badge tone={tone}>
            <Dot isLive={label === "running"} />
            {sentenceCase(label)}
          </Badge>
        </span>
        <div className="min-w-0">
          <Link
            to="/agents/$agent"
            params={{ agent: agent.name }}
            data-row
            className="block truncate font-medium hover:underline"
          >
            {agent.name}
          </Link>
          <p className="truncate text-sm text-muted" title={agent.description ?? undefined}>
            {agent.description ?? `${agent.runtime}${agent.docker ? " in Docker" : ""}`}
          </p>
        </div>
      </div>
      <Work agent={agent} />
      <div className="col-span-2 lg:col-span-1">
        <TimelineStrip agent={agent.name} jobs={jobs} start={start} end={end} />
      </div>
      <div className="flex min-w-0 flex-wrap items-center gap-x-2 text-sm text-muted">
        <LastJob agent={agent} />
      </div>
      <div className="min-w-0 text-right text-sm text-muted lg:text-left">
        {agent.next_due ? (
          <span className="block truncate" title={agent.next_due.schedule}>
            <RelativeTime at={agent.next_due.due_at} />
            <span className="hidden xl:inline"> · {agent.next_due.schedule}</span>
          </span>
        ) : (
          <span className="hidden lg:inline">–</span>
        )}
      </div>
      <div className="col-span-2 hidden text-right lg:col-span-1 lg:block">
        <Money usd={agent.cost_today_usd} />
      </div>
    </li>
  );
});

/** The current activity of each run, with links, or why the agent is not running. */
function Work({ agent }: { agent: AgentStatus }) {
  const work = describeWork(agent);
  if (agent.running.length === 0 && work === "") return <div className="hidden lg:block" />;
  return (
    <div className="col-span-2 min-w-0 lg:col-span-1">
      {agent.running.slice(0, 3).map(({ job_id, started_at, activity, node }) => (
        <Link
          key={job_id}
          to="/jobs/$jobId"
          params={{ jobId: job_id }}
          className="flex min-w-0 justify-between gap-2 hover:underline"
        >
          <span className="truncate" title={activity}>
            {activity}
          </span>
          <span className="text-sm whitespace-nowrap text-muted">
            {node && `on ${node} · `}
            <Elapsed since={started_at} />
          </span>
        </Link>
      ))}
      <MoreCount count={agent.running.length - 3} />
      {work && <p className="truncate text-sm text-muted">{work}</p>}
    </div>
  );
}

function MoreCount({ count }: { count: number }) {
  return count > 0 ? <p className="text-sm text-muted">and {count} more</p> : null;
}

function LastJob({ agent: { last_job } }: { agent: AgentStatus }) {
  if (!last_job) return <span>No runs yet</span>;
  return (
    <Link
      to="/jobs/$jobId"
      params={{ jobId: last_job.id }}
      className="flex items-center gap-2 hover:underline"
    >
      {last_job.outcome && <OutcomeCodeBadge code={last_job.outcome} />}
      {last_job.finished_at && <RelativeTime at={last_job.finished_at} />}
    </Link>
  );
}
