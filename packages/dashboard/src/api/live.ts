import type { FleetEvent } from "@herdctl/server/contract";
import type { QueryClient } from "@tanstack/react-query";
import { changedBy } from "./changes.ts";
import { setConnection } from "./connection.ts";
import { Refresher } from "./refresher.ts";
import { shareStream } from "./shared-stream.ts";

type EventListener = (event: FleetEvent) => void;

const listeners = new Set<EventListener>();

/** Whoever wants to know of each event, such as what tells people of it. */
export function onFleetEvent(listener: EventListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Keeps answers up to date by what the fleet tells. */
export function followFleet(client: QueryClient): () => void {
  const refresher = new Refresher(client);
  return shareStream({
    event: (json) => {
      // The edge: the fleet's own schemas have shaped it.
      const event = JSON.parse(json) as FleetEvent;
      refresher.add(changedBy[event.type] ?? []);
      for (const listener of listeners) listener(event);
    },
    state: setConnection,
    gap: () => refresher.everything(),
  });
}
