import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { callFleet, type ResponseOfRoute } from "../../api/call-fleet.ts";
import { useFleetQuery } from "../../api/queries.ts";
import { usePages } from "../../api/use-pages.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Select, TextInput } from "../../ui/form-controls.tsx";
import { Loading } from "../../ui/loading.tsx";
import { OutcomeBadge } from "../../ui/outcome-badge.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { RelativeTime } from "../../ui/time.tsx";

const route = getRouteApi("/search");
const debounceMs = 250;

/** Full-text search over all jobs. */
export function SearchPage() {
  const { q, agent } = route.useSearch();
  const navigate = route.useNavigate();
  const agents = useFleetQuery("status").data?.agents ?? [];
  const [text, setText] = useState(q ?? "");
  useEffect(() => {
    const timer = setTimeout(() => {
      const next = text.trim() === "" ? undefined : text.trim();
      void navigate({ search: (current) => ({ ...current, q: next }), replace: true });
    }, debounceMs);
    return () => clearTimeout(timer);
  }, [text, navigate]);
  return (
    <>
      <PageHeader
        title="Search"
        note="The prompts, summaries and outputs of all jobs that are kept"
      />
      <search className="mb-3 flex flex-wrap gap-2">
        <TextInput
          type="search"
          data-search
          autoFocus
          aria-label="Search in all jobs"
          placeholder="Words that must all occur"
          value={text}
          onChange={({ target }) => setText(target.value)}
          className="w-full sm:w-96"
        />
        <Select
          aria-label="Agent"
          value={agent ?? ""}
          onChange={({ target }) =>
            navigate({
              search: (current) => ({ ...current, agent: target.value || undefined }),
              replace: true,
            })
          }
        >
          <option value="">All agents</option>
          {agents.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </Select>
      </search>
      {q === undefined ? (
        <EmptyState title="Search all jobs">
          Each word may be the start of a longer one. A term such as <code>src/cart.ts</code> is
          found as a whole.
        </EmptyState>
      ) : (
        <Results text={q} agent={agent} />
      )}
    </>
  );
}

function Results({ text, agent }: { text: string; agent: string | undefined }) {
  const query = { text, agent, limit: 30 };
  const pages = usePages<ResponseOfRoute<"search">>("search", query, (cursor, signal) =>
    callFleet("search", { query: { ...query, cursor }, signal }),
  );
  if (pages.error) return <ErrorNote error={pages.error} onRetry={() => void pages.refetch()} />;
  const hits = pages.data?.pages.flatMap((page) => page.hits);
  if (!hits) return <Loading lines={6} />;
  if (hits.length === 0) return <EmptyState title="No matching jobs" />;
  return (
    <>
      <ul aria-label="Results" className="rounded-lg border border-line bg-surface">
        {hits.map((hit) => (
          <Hit key={hit.job.id} hit={hit} />
        ))}
      </ul>
      {pages.hasNextPage && (
        <div className="mt-3 text-center">
          <Button disabled={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            Show older jobs
          </Button>
        </div>
      )}
    </>
  );
}

function Hit({ hit: { job, field, excerpt } }: { hit: ResponseOfRoute<"search">["hits"][number] }) {
  return (
    <li className="border-b border-line last:border-b-0">
      <Link
        data-row
        to="/jobs/$jobId"
        params={{ jobId: job.id }}
        className="block px-3 py-2 hover:bg-hover"
      >
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <OutcomeBadge job={job} />
          <span className="font-medium">{job.agent}</span>
          <span className="text-sm text-muted">
            {job.schedule ?? sentenceCase(job.trigger_type)}
          </span>
          <span className="ml-auto text-sm text-muted">
            <RelativeTime at={job.created_at} />
          </span>
        </span>
        <span className="mt-1 block text-sm wrap-anywhere">
          <span className="text-muted">{sentenceCase(field)}: </span>
          {excerpt}
        </span>
      </Link>
    </li>
  );
}
