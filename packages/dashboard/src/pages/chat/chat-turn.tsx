import type { Job } from "@herdctl/server/contract";
import { Link } from "@tanstack/react-router";
import { useAnswer } from "../../api/queries.ts";
import { OutcomeBadge } from "../../ui/outcome-badge.tsx";
import { Duration, Money } from "../../ui/time.tsx";
import { WithCode } from "../../ui/with-code.tsx";
import { ApprovalCard } from "../inbox/approval-card.tsx";
import { ChatAnswer } from "./chat-answer.tsx";

/** What was said to an agent, and what it did and said then. */
export function ChatTurn({ job }: { job: Job }) {
  const isOver = job.finished_at !== null;
  return (
    <article aria-label="A message and its answer" className="flex flex-col gap-2">
      <p className="ml-auto max-w-[85%] rounded-lg border border-line bg-sunken px-3 py-2 whitespace-pre-wrap wrap-anywhere">
        {job.prompt}
      </p>
      {job.attempts > 0 && <ChatAnswer job={job} />}
      {!isOver && job.status !== "running" && <Standing job={job} />}
      {!isOver && <Questions jobId={job.id} />}
      {isOver && <Ending job={job} />}
    </article>
  );
}

function Standing({ job }: { job: Job }) {
  return (
    <p className="flex items-center gap-2 text-sm text-muted" role="status">
      <OutcomeBadge job={job} />
      {job.outcome?.message ?? "It begins as soon as there is room."}
    </p>
  );
}

function Questions({ jobId }: { jobId: string }) {
  const { data } = useAnswer("approvals");
  const open = data?.approvals.filter((approval) => approval.job_id === jobId) ?? [];
  return open.map((approval) => <ApprovalCard key={approval.id} approval={approval} />);
}

function Ending({ job }: { job: Job }) {
  const { outcome } = job;
  const isPlain = outcome === null || outcome.code === "success";
  return (
    <footer className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
      {!isPlain && (
        <span className="flex w-full flex-wrap items-center gap-2">
          <OutcomeBadge job={job} />
          <span>
            <WithCode text={`${outcome.message} ${outcome.hint}`} />
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
