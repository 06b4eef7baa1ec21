import { useFleetQuery } from "../../api/queries.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { InboxItem } from "./inbox-item.tsx";

export function InboxPage() {
  const { data, error, refetch } = useFleetQuery("approvals");
  return (
    <div className="mx-auto max-w-3xl">
      <PageHeader
        title="Inbox"
        note="Permission requests and questions from agents, oldest first"
      />
      {error && !data && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading lines={4} />}
      {data?.approvals.length === 0 && (
        <EmptyState title="No open requests">
          Agents ask here when they need permission to use a tool or have a question.
        </EmptyState>
      )}
      <ul className="flex flex-col gap-4">
        {data?.approvals.map((approval) => (
          <li key={approval.id}>
            <InboxItem approval={approval} />
          </li>
        ))}
      </ul>
    </div>
  );
}
