import type { Job } from "@herdctl/server/contract";
import { Link } from "@tanstack/react-router";
import { useAnswer } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { OutcomeBadge } from "../../ui/outcome-badge.tsx";
import { Ago, Duration, Elapsed, Money } from "../../ui/time.tsx";
import { CancelButton } from "./cancel-button.tsx";
import { resumeCommand } from "./resume-command.ts";

interface JobHeadProps {
  job: Job;
  obstacle: string | undefined;
  onResume(): void;
  onFork(): void;
}

export function JobHead({ job, obstacle, onResume, onFork }: JobHeadProps) {
  return (
    <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
      <div className="min-w-0">
        <h1 className="flex flex-wrap items-center gap-2 text-lg font-semibold">
          <Link to="/agents/$agent" params={{ agent: job.agent }} className="hover:underline">
            {job.agent}
          </Link>
          <OutcomeBadge job={job} />
        </h1>
        <Facts job={job} />
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <ResumeByHand job={job} />
        <Button obstacle={obstacle ?? noSession(job)} onClick={onFork}>
          Fork
        </Button>
        <Button obstacle={obstacle ?? noSession(job) ?? atWork(job)} onClick={onResume}>
          Resume
        </Button>
        {job.finished_at === null && <CancelButton job={job} obstacle={obstacle} />}
      </div>
    </header>
  );
}

function Facts({ job }: { job: Job }) {
  const { id, schedule, trigger_type, triggered_by, created_at, started_at, finished_at, chain } =
    job;
  return (
    <p className="flex flex-wrap gap-x-3 text-sm text-muted">
      <span className="font-mono">{id}</span>
      <span>{schedule ? `schedule ${schedule}` : trigger_type.replaceAll("_", " ")}</span>
      {triggered_by && triggered_by !== "schedule" && <span>by {triggered_by}</span>}
      <Ago at={created_at} />
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
          given by {chain.agents.at(-1)}
        </Link>
      )}
      {job.forked_from !== null && <span>a fork</span>}
    </p>
  );
}

/** In a terminal, with the real thing. */
function ResumeByHand({ job }: { job: Job }) {
  const { agent, session_id } = job;
  const { data } = useAnswer("sessions", { query: { agent } }, { enabled: session_id !== null });
  const session = data?.sessions.find((one) => one.session_id === session_id);
  if (!session) return null;
  if (session.obstacle)
    return (
      <Button look="quiet" obstacle={`${session.obstacle.message}. ${session.obstacle.hint}`}>
        claude --resume
      </Button>
    );
  return <CopyButton text={resumeCommand(session)} label="Copy claude --resume" />;
}

function noSession({ session_id }: Job): string | undefined {
  return session_id === null ? "This job has no session to go on with." : undefined;
}

function atWork({ finished_at }: Job): string | undefined {
  return finished_at === null ? "It is still at work: cancel it, or fork it." : undefined;
}
