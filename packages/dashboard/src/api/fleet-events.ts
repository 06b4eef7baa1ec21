import type { FleetEvent } from "@herdctl/server/contract";
import type { QueryClient } from "@tanstack/react-query";
import { setConnection } from "./connection-state.ts";
import { invalidatedRoutes } from "./invalidated-routes.ts";
import { QueryInvalidator } from "./query-invalidator.ts";
import { shareStream } from "./shared-stream.ts";

type FleetEventListener = (event: FleetEvent) => void;

const listeners = new Set<FleetEventListener>();

/** Subscribes to all fleet events, for example to show toasts. Returns the unsubscribe function. */
export function onFleetEvent(listener: FleetEventListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Refetches cached responses when fleet events make them stale. */
export function followFleet(client: QueryClient): () => void {
  const refresher = new QueryInvalidator(client);
  return shareStream({
    onEvent: (json) => {
      // The server validates every event against the contract.
      const event = JSON.parse(json) as FleetEvent;
      refresher.add(invalidatedRoutes[event.type] ?? []);
      for (const listener of listeners) listener(event);
    },
    onState: setConnection,
    onGap: () => refresher.invalidateAll(),
  });
}
