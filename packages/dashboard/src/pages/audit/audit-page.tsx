import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import { type Answer, ask } from "../../api/ask.ts";
import { usePages } from "../../api/pages.ts";
import { useAnswer } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Panel } from "../../ui/panel.tsx";
import { WithCode } from "../../ui/with-code.tsx";
import { AuditFilters } from "./audit-filters.tsx";
import { AuditTable } from "./audit-table.tsx";
import { spans } from "./search.ts";
import { SignOutAll } from "./sign-out-all.tsx";

export function AuditPage() {
  const scope = useAnswer("access").data?.scope;
  if (scope === undefined) return <Loading lines={4} />;
  const isAdmin = scope === "admin";
  return (
    <>
      <PageHead
        title="Audit"
        note="Who did what, from where, and how it ended"
        actions={isAdmin && <SignOutAll />}
      />
      {isAdmin ? <Log /> : <NotAllowed />}
    </>
  );
}

const route = getRouteApi("/audit");

function Log() {
  const { action, identity, since } = route.useSearch();
  // Fixed while the filters are: later pages continue the first one.
  const from = useMemo(() => since && new Date(Date.now() - spans[since]), [since]);
  const query = { action, identity, since: from?.toISOString(), limit: 100 };
  const pages = usePages<Answer<"audit">>("audit", query, (cursor, signal) =>
    ask("audit", { query: { ...query, cursor }, signal }),
  );
  const records = pages.data?.pages.flatMap((page) => page.records);
  return (
    <>
      <AuditFilters />
      {pages.error && <ErrorNote error={pages.error} onRetry={() => void pages.refetch()} />}
      {!records && !pages.error && <Loading lines={10} />}
      {records?.length === 0 && <Empty title="No records">Nothing matches these filters.</Empty>}
      {records && records.length > 0 && (
        <Panel
          title="Records"
          aside={<WithCode text="`herdctl audit verify` checks that none was edited or removed" />}
          flush
        >
          <AuditTable records={records} />
        </Panel>
      )}
      {pages.hasNextPage && (
        <div className="mt-3 text-center">
          <Button disabled={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            Show older records
          </Button>
        </div>
      )}
    </>
  );
}

function NotAllowed() {
  return (
    <Empty title="The audit log needs the scope admin">
      <WithCode text="Run `herdctl open` to sign in with it." />
    </Empty>
  );
}
