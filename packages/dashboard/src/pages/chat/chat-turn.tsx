import type { Job } from "@herdctl/server/contract";
import { Link } from "@tanstack/react-router";
import { useFleetQuery } from "../../api/queries.ts";
import { OutcomeBadge } from "../../ui/outcome-badge.tsx";
import { TextWithCode } from "../../ui/text-with-code.tsx";
import { Duration, Money } from "../../ui/time.tsx";
import { ApprovalCard } from "../inbox/approval-card.tsx";
import { ChatAnswer } from "./chat-answer.tsx";

/** A message to an agent and its reply. */
export function ChatTurn({ job }: { job: Job }) {
  const isFinished = job.finished_at !== null;
  return (
    <article aria-label="Message and reply" className="flex flex-col gap-2">
      <p className="ml-auto max-w-[85%] rounded-lg border border-line bg-sunken px-3 py-2 whitespace-pre-wrap wrap-anywhere">
        {job.prompt}
      </p>
      {job.attempts > 0 && <ChatAnswer job={job} />}
      {!isFinished && job.status !== "running" && <TurnStatus job={job} />}
      {!isFinished && <Questions jobId={job.id} />}
      {isFinished && <TurnSummary job={job} />}
    </article>
  );
}

function TurnStatus({ job }: { job: Job }) {
  return (
    <p className="flex items-center gap-2 text-sm text-muted" role="status">
      <OutcomeBadge job={job} />
      {job.outcome?.message ?? "Starts as soon as capacity is available."}
    </p>
  );
}

function Questions({ jobId }: { jobId: string }) {
  const { data } = useFleetQuery("approvals");
  const open = data?.approvals.filter((approval) => approval.job_id === jobId) ?? [];
  return open.map((approval) => <ApprovalCard key={approval.id} approval={approval} />);
}

function TurnSummary({ job }: { job: Job }) {
  const { outcome } = job;
  const isSuccess = outcome === null || outcome.code === "success";
  return (
    <footer className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
      {!isSuccess && (
        <span className="flex w-full flex-wrap items-center gap-2">
          <OutcomeBadge job={job} />
          <span>
            <TextWithCode text={`${outcome.message} ${outcome.hint}`} />
          </span>
        </span>
      )}
      <Duration seconds={job.duration_seconds} />
      <Money usd={job.cost_usd} />
      <Link
        to="/jobs/$jobId"
        params={{ jobId: job.id }}
        className="text-accent hover:underline"
        aria-label={`Details of ${job.id}`}
      >
        Details
      </Link>
    </footer>
  );
}
