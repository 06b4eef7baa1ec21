import { useAnswer } from "../../api/queries.ts";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { InboxItem } from "./inbox-item.tsx";

export function InboxPage() {
  const { data, error, refetch } = useAnswer("approvals");
  return (
    <div className="mx-auto max-w-3xl">
      <PageHead title="Inbox" note="What agents ask and nobody has answered, the oldest first." />
      {error && !data && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading lines={4} />}
      {data?.approvals.length === 0 && (
        <Empty title="Nothing waits for you">
          Agents ask here before they use a tool that needs your word, and when they have a
          question.
        </Empty>
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
