import { Link } from "@tanstack/react-router";
import { useFleetQuery } from "../../api/queries.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { HookList } from "../hooks/hook-list.tsx";

const limit = 200;

/** The latest hooks of all jobs. */
export function HooksTab() {
  const { data, error } = useFleetQuery("hooks", { query: { limit } });
  if (error && !data) return <ErrorNote error={error} />;
  if (!data) return <Loading />;
  if (data.hooks.length === 0)
    return (
      <EmptyState title="No hooks yet">
        Actions in an agent's <code>hooks</code> appear here after its runs.
      </EmptyState>
    );
  return (
    <>
      <div className="rounded-lg border border-line bg-surface">
        <HookList
          hooks={data.hooks}
          renderJob={({ agent, job_id }) => (
            <Link to="/jobs/$jobId" params={{ jobId: job_id }} data-row className="hover:underline">
              {agent}
            </Link>
          )}
        />
      </div>
      {data.hooks.length === limit && (
        <p className="mt-2 text-sm text-muted">These are the latest {limit} hooks.</p>
      )}
    </>
  );
}
