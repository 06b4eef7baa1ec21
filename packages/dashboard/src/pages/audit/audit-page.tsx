import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import { callFleet, type ResponseOfRoute } from "../../api/call-fleet.ts";
import { useFleetQuery } from "../../api/queries.ts";
import { usePages } from "../../api/use-pages.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { TextWithCode } from "../../ui/text-with-code.tsx";
import { AdminOnly } from "../admin-only.tsx";
import { spanMs } from "../time-spans.ts";
import { AuditFilters } from "./audit-filters.tsx";
import { AuditTable } from "./audit-table.tsx";
import { SignOutAll } from "./sign-out-all.tsx";

export function AuditPage() {
  const scope = useFleetQuery("access").data?.scope;
  if (scope === undefined) return <Loading lines={4} />;
  const isAdmin = scope === "admin";
  return (
    <>
      <PageHeader
        title="Audit"
        note="Who did what, from where, and whether it succeeded"
        actions={isAdmin && <SignOutAll />}
      />
      {isAdmin ? <AuditLog /> : <AdminOnly />}
    </>
  );
}

const route = getRouteApi("/audit");

function AuditLog() {
  const { action, identity, since } = route.useSearch();
  // Computed once per filter change: all pages must use the same start time.
  const from = useMemo(() => since && new Date(Date.now() - spanMs[since]), [since]);
  const query = { action, identity, since: from?.toISOString(), limit: 100 };
  const pages = usePages<ResponseOfRoute<"audit">>("audit", query, (cursor, signal) =>
    callFleet("audit", { query: { ...query, cursor }, signal }),
  );
  const records = pages.data?.pages.flatMap((page) => page.records);
  return (
    <>
      <AuditFilters />
      {pages.error && <ErrorNote error={pages.error} onRetry={() => void pages.refetch()} />}
      {!records && !pages.error && <Loading lines={10} />}
      {records?.length === 0 && (
        <EmptyState title="No records">No records match these filters.</EmptyState>
      )}
      {records && records.length > 0 && (
        <Panel
          title="Records"
          aside={
            <TextWithCode text="Run `herdctl audit verify` to check for changed or removed records" />
          }
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
