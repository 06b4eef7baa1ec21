import type { Job } from "@herdctl/server/contract";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useFleetQuery } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { OutcomeBadge } from "../../ui/outcome-badge.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Duration, Elapsed, Money, RelativeTime } from "../../ui/time.tsx";
import { CancelButton } from "./cancel-button.tsx";
import { formatResumeCommand } from "./resume-command.ts";

interface JobHeaderProps {
  job: Job;
  disabledReason: string | undefined;
  onResume(): void;
  onFork(): void;
  onRunAgain(): void;
  downloadMenu: ReactNode;
}

export function JobHeader(props: JobHeaderProps) {
  const { job, disabledReason, onResume, onFork, onRunAgain, downloadMenu } = props;
  return (
    <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
      <div className="min-w-0">
        <h1 className="flex flex-wrap items-center gap-2 text-lg font-semibold">
          <Link to="/agents/$agent" params={{ agent: job.agent }} className="hover:underline">
            {job.agent}
          </Link>
          <OutcomeBadge job={job} />
        </h1>
        <JobFacts job={job} />
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <ResumeCommandButton job={job} />
        {downloadMenu}
        <Button disabledReason={disabledReason ?? noSessionReason(job)} onClick={onFork}>
          Fork
        </Button>
        <Button
          disabledReason={disabledReason ?? noSessionReason(job) ?? stillRunningReason(job)}
          onClick={onResume}
        >
          Resume
        </Button>
        {job.finished_at !== null && (
          <Button disabledReason={disabledReason} onClick={onRunAgain}>
            Run again
          </Button>
        )}
        {job.finished_at === null && <CancelButton job={job} disabledReason={disabledReason} />}
      </div>
    </header>
  );
}

function JobFacts({ job }: { job: Job }) {
  const { id, schedule, trigger_type, triggered_by, created_at, started_at, finished_at, chain } =
    job;
  return (
    <p className="flex flex-wrap gap-x-3 text-sm text-muted">
      <span className="font-mono">{id}</span>
      <span>{schedule ? `Schedule ${schedule}` : sentenceCase(trigger_type)}</span>
      {triggered_by && triggered_by !== "schedule" && <span>by {triggered_by}</span>}
      <RelativeTime at={created_at} />
      {finished_at !== null ? (
        <Duration seconds={job.duration_seconds} />
      ) : (
        started_at !== null && <Elapsed since={started_at} />
      )}
      {job.cost_usd !== null && <Money usd={job.cost_usd} />}
      {job.attempts > 1 && <span>{job.attempts} attempts</span>}
      {chain.parent !== null && (
        <Link
          to="/jobs/$jobId"
          params={{ jobId: chain.parent }}
          className="text-accent hover:underline"
        >
          Delegated by {chain.agents.at(-1)}
        </Link>
      )}
      <SessionOrigin job={job} />
    </p>
  );
}

/** The session that the job continues or copies, with the jobs that ran in it. */
function SessionOrigin({ job: { resumed_from, forked_from } }: { job: Job }) {
  const session = forked_from ?? resumed_from;
  if (session === null) return null;
  return (
    <Link
      to="/activity"
      search={{ session }}
      title={session}
      className="text-accent hover:underline"
    >
      {forked_from === null ? "Continues" : "Fork of"} session {session.slice(0, 8)}
    </Link>
  );
}

const copyLabel = "Copy resume command";

/** Copies the command that resumes the session with Claude Code in a terminal. */
function ResumeCommandButton({ job }: { job: Job }) {
  const { agent, session_id } = job;
  const { data } = useFleetQuery(
    "sessions",
    { query: { agent } },
    { enabled: session_id !== null },
  );
  const file = useFleetQuery("status").data?.fleet.file;
  const session = data?.sessions.find((candidate) => candidate.session_id === session_id);
  if (session_id === null) return null;
  // Takes the place of the button, so that the page does not move when it comes.
  if (!data || file === undefined)
    return (
      <Button size="small" disabled>
        {copyLabel}
      </Button>
    );
  if (!session) return null;
  if (session.obstacle)
    return (
      <Button
        variant="quiet"
        disabledReason={`${session.obstacle.message}. ${session.obstacle.hint}`}
      >
        Resume in a terminal
      </Button>
    );
  return <CopyButton text={formatResumeCommand(session.session_id, file)} label={copyLabel} />;
}

function noSessionReason({ session_id }: Job): string | undefined {
  return session_id === null ? "This job has no session to resume." : undefined;
}

function stillRunningReason({ finished_at }: Job): string | undefined {
  return finished_at === null ? "The job is still running. Cancel or fork it instead." : undefined;
}
