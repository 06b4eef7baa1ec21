import type { Approval } from "@herdctl/server/contract";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useAnswer } from "../../api/queries.ts";
import { readSome } from "../../job/follow-output.ts";
import { gistOf, toolName } from "../../job/gist.ts";
import { type Before, lastBefore } from "../../job/last-before.ts";
import { Story } from "../../job/story.ts";
import { tell } from "../../job/tell.ts";
import { Markdown } from "../../ui/markdown.tsx";
import { Ago } from "../../ui/time.tsx";
import { ApprovalCard } from "./approval-card.tsx";

/** So much of a log is looked through for what came before the question. */
const most = 20_000;

export function InboxItem({ approval }: { approval: Approval }) {
  const { id, job_id: jobId, asked_at } = approval;
  const { data: found } = useAnswer("job", { params: { id: jobId } });
  const { data: before } = useQuery({
    queryKey: ["before", id],
    queryFn: ({ signal }) => beforeIt(approval, signal),
  });
  const job = found?.job;
  return (
    <article
      aria-label={`Asked by ${job?.agent ?? "an agent"}`}
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
          asked <Ago at={asked_at} />
        </span>
      </header>
      <div className="flex flex-col gap-2 p-3">
        {job && (
          <p className="line-clamp-3 text-sm whitespace-pre-wrap wrap-anywhere text-muted">
            <span className="font-medium">Prompt: </span>
            {job.prompt}
          </p>
        )}
        {before && <Context before={before} />}
        <ApprovalCard approval={approval} />
      </div>
    </article>
  );
}

function Context({ before: { said, tools, cwd } }: { before: Before & { cwd: string | null } }) {
  if (said === null && tools.length === 0) return null;
  return (
    <section aria-label="Just before" className="border-l-2 border-line pl-3">
      {tools.length > 0 && (
        <ul className="mb-1 text-sm text-muted">
          {tools.map((tool) => (
            <li key={tool.key} className="truncate">
              <span className="font-medium">{toolName(tool.tool)}</span>{" "}
              <span className="font-mono">{gistOf(tool, cwd)}</span>
            </li>
          ))}
        </ul>
      )}
      {said !== null && <Markdown text={said.slice(-4_000)} />}
    </section>
  );
}

async function beforeIt(
  approval: Approval,
  signal: AbortSignal,
): Promise<Before & { cwd: string | null }> {
  const story = new Story();
  for (const line of await readSome(approval.job_id, 0, most, signal)) tell(story, line);
  return { ...lastBefore(story, approval), cwd: story.cwd };
}
