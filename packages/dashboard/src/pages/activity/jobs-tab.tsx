import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import { type Answer, ask } from "../../api/ask.ts";
import { usePages } from "../../api/pages.ts";
import { Empty } from "../../ui/empty.tsx";
import { Filters } from "./filters.tsx";
import { JobLine } from "./job-line.tsx";
import { PagedList } from "./paged-list.tsx";
import { spans } from "./search.ts";

const route = getRouteApi("/activity");
const offered = ["agent", "schedule", "status", "outcome", "since"] as const;

export function JobsTab() {
  const { agent, schedule, status, outcome, since, session } = route.useSearch();
  // Fixed while the page is open: the same question, asked again, is the same question.
  const from = useMemo(() => since && new Date(Date.now() - spans[since]).toISOString(), [since]);
  const query = { agent, schedule, status, outcome, session, since: from, limit: 100 };
  const pages = usePages<Answer<"jobs">>("jobs", query, (cursor, signal) =>
    ask("jobs", { query: { ...query, cursor }, signal }),
  );
  const isFiltered = Object.values({ agent, schedule, status, outcome, since }).some(Boolean);
  return (
    <>
      <Filters offered={session === undefined ? offered : [...offered, "session"]} />
      <PagedList
        label="Jobs"
        pages={pages}
        items={pages.data?.pages.flatMap(({ jobs }) => jobs)}
        keyOf={({ id }) => id}
        lineHeight={52}
        empty={
          <Empty title={isFiltered ? "No job is like that" : "Nothing has run yet"}>
            {isFiltered
              ? "Take a filter away to see more."
              : "Trigger an agent, or wait for its schedule."}
          </Empty>
        }
      >
        {(job) => <JobLine job={job} />}
      </PagedList>
    </>
  );
}
