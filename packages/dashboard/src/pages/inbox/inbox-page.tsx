import type { Approval } from "@herdctl/server/contract";
import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { routeQuery, useFleetQuery } from "../../api/queries.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { contextQuery, InboxItem } from "./inbox-item.tsx";

export function InboxPage() {
  const { data, error, refetch } = useFleetQuery("approvals");
  const isLoaded = useIsLoaded(data?.approvals);
  return (
    <div className="mx-auto max-w-3xl">
      <PageHeader
        title="Inbox"
        note="Permission requests and questions from agents, oldest first"
      />
      {error && !data && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!isLoaded && !(error && !data) && <Loading lines={4} />}
      {data?.approvals.length === 0 && (
        <EmptyState title="No open requests">
          Agents ask here when they need permission to use a tool or have a question.
        </EmptyState>
      )}
      <ul className="flex flex-col gap-4">
        {(isLoaded ? data?.approvals : undefined)?.map((approval) => (
          <li key={approval.id}>
            <InboxItem approval={approval} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/**
 * Whether the requests have been loaded once with what the agents did before, so that the list does
 * not move while it appears. Later requests come at its end.
 */
function useIsLoaded(approvals: Approval[] | undefined): boolean {
  const isPending = useQueries({
    queries: [
      ...(approvals ?? []).map(({ job_id }) => routeQuery("job", { params: { id: job_id } })),
      ...(approvals ?? []).map(contextQuery),
    ],
    combine: (results) => results.some((result) => result.isPending),
  });
  const [isLoaded, setLoaded] = useState(false);
  if (!isLoaded && approvals !== undefined && !isPending) setLoaded(true);
  return isLoaded;
}
