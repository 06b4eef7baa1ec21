import type { FleetEvent, TimelineEntry } from "@herdctl/server/contract";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { type Answer, ask } from "./ask.ts";
import { onFleetEvent } from "./live.ts";

type Timeline = Answer<"timeline">;

const anHour = 60 * 60 * 1000;

/** What ran in the last hours. Asked for once; then each event is put into it. */
export function useTimeline(hours: number, agent?: string) {
  const client = useQueryClient();
  const key = ["timeline", { hours, agent }];
  const [name, about] = [key[0], JSON.stringify(key[1])];
  useEffect(
    () =>
      onFleetEvent((event) => {
        const entry = entryOf(event);
        if (!entry || (agent !== undefined && entry.agent !== agent)) return;
        client.setQueryData<Timeline>(
          [name, JSON.parse(about)],
          (old) => old && withEntry(old, entry),
        );
      }),
    [client, name, about, agent],
  );
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => {
      const since = new Date(Date.now() - hours * anHour).toISOString();
      return ask("timeline", { query: { since, agent }, signal });
    },
  });
}

function entryOf(event: FleetEvent): TimelineEntry | undefined {
  if (!("job" in event)) return undefined;
  return { ...event.job, outcome: event.job.outcome?.code ?? null };
}

function withEntry(old: Timeline, entry: TimelineEntry): Timeline {
  const index = old.jobs.findIndex(({ id }) => id === entry.id);
  if (index === -1) return { ...old, jobs: [entry, ...old.jobs] };
  return { ...old, jobs: old.jobs.with(index, entry) };
}
