import type { Approval } from "@herdctl/server/contract";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useFleetQuery } from "../../api/queries.ts";
import { applyOutputLine } from "../../transcript/apply-output-line.ts";
import { readLines } from "../../transcript/follow-output.ts";
import {
  findPrecedingActivity,
  type PrecedingActivity,
} from "../../transcript/preceding-activity.ts";
import { formatToolName, summarizeToolCall } from "../../transcript/summarize-tool-call.ts";
import { Transcript } from "../../transcript/transcript.ts";
import { Markdown } from "../../ui/markdown.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { ApprovalCard } from "./approval-card.tsx";

/** Maximum number of log lines to search for the context of a request. */
const maxLines = 20_000;

/** What the agent did before the request. */
export function contextQuery(approval: Approval) {
  return queryOptions({
    queryKey: ["before", approval.id],
    queryFn: ({ signal }) => readPreceding(approval, signal),
  });
}

export function InboxItem({ approval }: { approval: Approval }) {
  const { job_id: jobId, requested_at } = approval;
  const { data: jobResponse } = useFleetQuery("job", { params: { id: jobId } });
  const { data: context } = useQuery(contextQuery(approval));
  const job = jobResponse?.job;
  return (
    <article
      aria-label={`Request from ${job?.agent ?? "an agent"}`}
      className="rounded-lg border border-line bg-surface"
    >
      <header className="flex flex-wrap items-baseline gap-x-2 border-b border-line px-3 py-2">
        {job && (
          <Link
            to="/agents/$agent"
            params={{ agent: job.agent }}
            className="font-semibold hover:underline"
          >
            {job.agent}
          </Link>
        )}
        <Link to="/jobs/$jobId" params={{ jobId }} className="text-sm text-accent hover:underline">
          {jobId}
        </Link>
        <span className="ml-auto text-sm text-muted">
          Asked <RelativeTime at={requested_at} />
        </span>
      </header>
      <div className="flex flex-col gap-2 p-3">
        {job && (
          <p className="line-clamp-3 text-sm whitespace-pre-wrap wrap-anywhere text-muted">
            <span className="font-medium">Prompt: </span>
            {job.prompt}
          </p>
        )}
        {context && <PrecedingContext context={context} />}
        <ApprovalCard approval={approval} />
      </div>
    </article>
  );
}

function PrecedingContext({
  context: { lastText, tools, cwd },
}: {
  context: PrecedingActivity & { cwd: string | null };
}) {
  if (lastText === null && tools.length === 0) return null;
  return (
    <section aria-label="Context" className="border-l-2 border-line pl-3">
      {tools.length > 0 && (
        <ul className="mb-1 text-sm text-muted">
          {tools.map((tool) => (
            <li key={tool.key} className="truncate">
              <span className="font-medium">{formatToolName(tool.tool)}</span>{" "}
              <span className="font-mono">{summarizeToolCall(tool, cwd)}</span>
            </li>
          ))}
        </ul>
      )}
      {lastText !== null && <Markdown text={lastText.slice(-4_000)} />}
    </section>
  );
}

async function readPreceding(
  approval: Approval,
  signal: AbortSignal,
): Promise<PrecedingActivity & { cwd: string | null }> {
  const transcript = new Transcript();
  for (const line of await readLines(approval.job_id, 0, maxLines, signal))
    applyOutputLine(transcript, line);
  return { ...findPrecedingActivity(transcript, approval), cwd: transcript.cwd };
}
