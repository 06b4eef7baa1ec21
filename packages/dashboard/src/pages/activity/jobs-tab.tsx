import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import { callFleet, type ResponseOfRoute } from "../../api/call-fleet.ts";
import { usePages } from "../../api/use-pages.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { spanMs } from "../time-spans.ts";
import { ActivityFilters } from "./activity-filters.tsx";
import { JobLine, JobLineHeader } from "./job-line.tsx";
import { PagedList } from "./paged-list.tsx";

const route = getRouteApi("/activity");
const availableFilters = ["agent", "schedule", "status", "outcome", "since"] as const;

export function JobsTab() {
  const search = route.useSearch();
  const { agent, schedule, status, outcome, since, session } = search;
  const navigate = route.useNavigate();
  // Computed once per filter change, so that the query key stays stable.
  const from = useMemo(() => since && new Date(Date.now() - spanMs[since]).toISOString(), [since]);
  // A filter by status or outcome includes the jobs that were skipped.
  const isShowingSkipped = search.skipped ?? (status !== undefined || outcome !== undefined);
  const skipped = isShowingSkipped ? undefined : ("false" as const);
  const query = { agent, schedule, status, outcome, session, skipped, since: from, limit: 100 };
  const pages = usePages<ResponseOfRoute<"jobs">>("jobs", query, (cursor, signal) =>
    callFleet("jobs", { query: { ...query, cursor }, signal }),
  );
  const isFiltered = Object.values({ agent, schedule, status, outcome, since }).some(Boolean);
  return (
    <>
      <ActivityFilters
        availableFilters={
          session === undefined ? availableFilters : [...availableFilters, "session"]
        }
      >
        {status === undefined && outcome === undefined && (
          <label className="flex items-center gap-1.5 text-sm whitespace-nowrap text-muted">
            <input
              type="checkbox"
              className="accent-accent"
              checked={isShowingSkipped}
              onChange={({ target }) =>
                navigate({
                  search: (current) => ({ ...current, skipped: target.checked || undefined }),
                  replace: true,
                })
              }
            />
            Show skipped
          </label>
        )}
      </ActivityFilters>
      <PagedList
        label="Jobs"
        pages={pages}
        items={pages.data?.pages.flatMap(({ jobs }) => jobs)}
        keyOf={({ id }) => id}
        lineHeight={52}
        header={<JobLineHeader />}
        empty={
          <EmptyState title={isFiltered ? "No matching jobs" : "No jobs yet"}>
            {isFiltered
              ? "Remove a filter to see more jobs."
              : "Trigger an agent, or wait for its next scheduled run."}
          </EmptyState>
        }
      >
        {(job) => <JobLine job={job} />}
      </PagedList>
    </>
  );
}
