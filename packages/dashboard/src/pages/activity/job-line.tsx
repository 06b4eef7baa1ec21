import { Link } from "@tanstack/react-router";
import type { ResponseOfRoute } from "../../api/call-fleet.ts";
import { OutcomeBadge } from "../../ui/outcome-badge.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Duration, Elapsed, Money, RelativeTime } from "../../ui/time.tsx";

type Job = ResponseOfRoute<"jobs">["jobs"][number];

const columnsClass =
  "grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 px-3 py-1.5 md:grid-cols-[9.5rem_minmax(0,1fr)_8rem_6.5rem_5rem_4rem] md:items-center";

export function JobLineHeader() {
  return (
    <div className={`${columnsClass} text-sm font-medium text-muted max-md:hidden`}>
      <span>Outcome</span>
      <span>Agent and prompt</span>
      <span>Trigger</span>
      <span className="text-right">Created</span>
      <span className="text-right">Duration</span>
      <span className="text-right">Cost</span>
    </div>
  );
}

export function JobLine({ job }: { job: Job }) {
  return (
    <Link
      data-row
      to="/jobs/$jobId"
      params={{ jobId: job.id }}
      className={`${columnsClass} hover:bg-hover`}
    >
      <span className="flex min-w-0 items-center gap-2">
        <OutcomeBadge job={job} />
        <span className="truncate font-medium md:hidden">{job.agent}</span>
      </span>
      <span className="text-right text-sm text-muted md:hidden">
        <RelativeTime at={job.created_at} />
      </span>
      <span className="min-w-0">
        <span className="hidden truncate font-medium md:block">{job.agent}</span>
        <span className="block truncate text-sm text-muted">{firstLine(job.prompt)}</span>
      </span>
      <span className="hidden truncate text-sm text-muted md:block">
        {job.schedule ?? sentenceCase(job.trigger_type)}
      </span>
      <span className="hidden text-right text-sm text-muted md:block">
        <RelativeTime at={job.created_at} />
      </span>
      <span className="hidden text-right md:block">
        {job.status === "running" && job.started_at !== null ? (
          <Elapsed since={job.started_at} />
        ) : (
          <Duration seconds={job.duration_seconds} />
        )}
      </span>
      <span className="text-right">
        <Money usd={job.cost_usd} />
      </span>
    </Link>
  );
}

function firstLine(prompt: string): string {
  return prompt.trim().split("\n", 1)[0] ?? "";
}
