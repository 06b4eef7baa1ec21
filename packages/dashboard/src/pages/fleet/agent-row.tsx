import type { AgentStatus, TimelineEntry } from "@herdctl/server/contract";
import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { Badge } from "../../ui/badge.tsx";
import { classNames } from "../../ui/class-names.ts";
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
  /** One line per agent on a wide screen; no timeline on a narrow one. */
  isCompact: boolean;
}

export const AgentRow = memo(function AgentRow({
  agent,
  jobs,
  start,
  end,
  isCompact,
}: AgentRowProps) {
  const { label, tone } = toAgentState(agent);
  const isAtWork = agent.running.length > 0 || describeWork(agent) !== "";
  return (
    <li
      className={classNames(
        columnsClass,
        "gap-y-2 border-b border-line px-3 last:border-b-0 hover:bg-hover",
        // Rows outside the window are not laid out, so that hundreds of agents stay quick.
        "[content-visibility:auto]",
        isCompact
          ? "py-1.5 [contain-intrinsic-size:auto_2rem] lg:py-0.5"
          : "py-2 [contain-intrinsic-size:auto_3.25rem]",
      )}
    >
      <div
        className={classNames(
          "col-span-2 flex min-w-0 items-center gap-2",
          isAtWork && "lg:col-span-1",
        )}
      >
        <span className="w-19 shrink-0">
          <Badge tone={tone}>
            <Dot isLive={label === "running"} />
            {sentenceCase(label)}
          </Badge>
        </span>
        <div className={classNames("min-w-0 flex-1", isCompact && "lg:flex lg:gap-3")}>
          <Link
            to="/agents/$agent"
            params={{ agent: agent.name }}
            data-row
            className={classNames(
              "block truncate font-medium hover:underline",
              isCompact && "lg:max-w-2/3 lg:shrink-0",
            )}
          >
            {agent.name}
          </Link>
          <p
            className={classNames(
              "truncate text-sm text-muted",
              isCompact && "max-lg:hidden lg:leading-5",
            )}
            title={agent.description ?? undefined}
          >
            {agent.description ?? `${agent.runtime}${agent.docker ? " in Docker" : ""}`}
          </p>
        </div>
        <span className="text-sm text-muted lg:hidden">
          <Money usd={agent.cost_today_usd} />
        </span>
      </div>
      {isAtWork && <Work agent={agent} isCompact={isCompact} />}
      <div className={classNames("col-span-2 lg:col-span-1", isCompact && "max-lg:hidden")}>
        <TimelineStrip
          agent={agent.name}
          jobs={jobs}
          start={start}
          end={end}
          isCompact={isCompact}
        />
      </div>
      <div className="min-w-0 text-sm text-muted">
        <LastJob agent={agent} isCompact={isCompact} />
      </div>
      <div className="min-w-0 text-right text-sm text-muted lg:text-left">
        {agent.next_due ? (
          <>
            <RelativeTime at={agent.next_due.due_at} />
            <span
              className={classNames("block truncate", isCompact && "lg:hidden")}
              title={agent.next_due.schedule}
            >
              {agent.next_due.schedule}
            </span>
          </>
        ) : (
          <span className="hidden lg:inline">–</span>
        )}
      </div>
      <div className="hidden text-right lg:block">
        <Money usd={agent.cost_today_usd} />
      </div>
    </li>
  );
});

/** The current activity of each run, with links, or why the agent is not running. */
function Work({ agent, isCompact }: { agent: AgentStatus; isCompact: boolean }) {
  const work = describeWork(agent);
  return (
    <div className="col-span-2 min-w-0 lg:col-span-1">
      {agent.running.slice(0, 3).map(({ job_id, started_at, activity, node }) => (
        <Link
          key={job_id}
          to="/jobs/$jobId"
          params={{ jobId: job_id }}
          className={classNames(
            "flex min-h-6 min-w-0 justify-between gap-x-2 hover:underline",
            !isCompact && "lg:flex-col",
          )}
        >
          <span className="truncate" title={activity}>
            {activity}
          </span>
          <span className="shrink-0 text-sm text-muted">
            <Elapsed since={started_at} />
            {node && ` on ${node}`}
          </span>
        </Link>
      ))}
      <MoreCount count={agent.running.length - 3} />
      {work && (
        <p className="truncate text-sm text-muted" title={work}>
          {work}
        </p>
      )}
    </div>
  );
}

function MoreCount({ count }: { count: number }) {
  return count > 0 ? <p className="text-sm text-muted">and {count} more</p> : null;
}

/** The outcome above its time; in a compact list, the outcome alone. */
function LastJob({ agent: { last_job }, isCompact }: { agent: AgentStatus; isCompact: boolean }) {
  if (!last_job) return <span>No runs yet</span>;
  return (
    <Link to="/jobs/$jobId" params={{ jobId: last_job.id }} className="block hover:underline">
      {last_job.outcome && <OutcomeCodeBadge code={last_job.outcome} />}
      {last_job.finished_at && (
        <span className={classNames("block", isCompact && "lg:hidden")}>
          <RelativeTime at={last_job.finished_at} />
        </span>
      )}
    </Link>
  );
}
