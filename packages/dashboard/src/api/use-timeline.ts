import type { FleetEvent, TimelineEntry } from "@herdctl/server/contract";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { callFleet, type ResponseOfRoute } from "./call-fleet.ts";
import { onFleetEvent } from "./fleet-events.ts";

type Timeline = ResponseOfRoute<"timeline">;

const hourMs = 60 * 60 * 1000;

/** Jobs of the last hours. Fetched once, then updated from events. */
export function useTimeline(hours: number, agent?: string) {
  const client = useQueryClient();
  const key = ["timeline", { hours, agent }];
  const [name, serializedKey] = [key[0], JSON.stringify(key[1])];
  useEffect(
    () =>
      onFleetEvent((event) => {
        const entry = toTimelineEntry(event);
        if (!entry || (agent !== undefined && entry.agent !== agent)) return;
        client.setQueryData<Timeline>(
          [name, JSON.parse(serializedKey)],
          (current) => current && upsertEntry(current, entry),
        );
      }),
    [client, name, serializedKey, agent],
  );
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => {
      const since = new Date(Date.now() - hours * hourMs).toISOString();
      return callFleet("timeline", { query: { since, agent }, signal });
    },
  });
}

function toTimelineEntry(event: FleetEvent): TimelineEntry | undefined {
  if (!("job" in event)) return undefined;
  return { ...event.job, outcome: event.job.outcome?.code ?? null };
}

function upsertEntry(current: Timeline, entry: TimelineEntry): Timeline {
  const index = current.jobs.findIndex(({ id }) => id === entry.id);
  if (index === -1) return { ...current, jobs: [entry, ...current.jobs] };
  return { ...current, jobs: current.jobs.with(index, entry) };
}
