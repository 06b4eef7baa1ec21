import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import { callFleet, type ResponseOfRoute } from "../../api/call-fleet.ts";
import { usePages } from "../../api/use-pages.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { spanMs } from "../time-spans.ts";
import { ActivityFilters } from "./activity-filters.tsx";
import { JobLine } from "./job-line.tsx";
import { PagedList } from "./paged-list.tsx";

const route = getRouteApi("/activity");
const availableFilters = ["agent", "schedule", "status", "outcome", "since"] as const;

export function JobsTab() {
  const { agent, schedule, status, outcome, since, session } = route.useSearch();
  // Computed once per filter change, so that the query key stays stable.
  const from = useMemo(() => since && new Date(Date.now() - spanMs[since]).toISOString(), [since]);
  const query = { agent, schedule, status, outcome, session, since: from, limit: 100 };
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
      />
      <PagedList
        label="Jobs"
        pages={pages}
        items={pages.data?.pages.flatMap(({ jobs }) => jobs)}
        keyOf={({ id }) => id}
        lineHeight={52}
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
