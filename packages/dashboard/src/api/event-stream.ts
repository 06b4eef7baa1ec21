import { callFleet, urlOf } from "./call-fleet.ts";
import type { ConnectionState } from "./connection-state.ts";
import { FleetError } from "./fleet-error.ts";
import { invalidatedRoutes } from "./invalidated-routes.ts";

export interface StreamListener {
  /** A fleet event as JSON. */
  onEvent(json: string): void;
  onState(state: ConnectionState): void;
  /** Events may have been missed: the listener refetches its data. */
  onGap(): void;
}

const retryDelayMs = 1_000;

/**
 * The browser reconnects automatically and sends the id of the last event. After an error response
 * it stops reconnecting, so this function opens a new stream once the fleet responds again.
 */
export function openEventStream(listener: StreamListener): () => void {
  let source: EventSource;
  let timer: number | undefined;
  let wasDisconnected = false;

  const open = () => {
    source = new EventSource(urlOf("events", { query: { output: "false" } }));
    source.onopen = () => {
      listener.onState("live");
      // Requests made while disconnected have failed, and no event reports that.
      if (wasDisconnected) listener.onGap();
      wasDisconnected = false;
    };
    source.onerror = () => {
      wasDisconnected = true;
      listener.onState("away");
      if (source.readyState === EventSource.CLOSED)
        timer = window.setTimeout(reconnect, retryDelayMs);
    };
    source.addEventListener("reset", () => listener.onGap());
    for (const type of Object.keys(invalidatedRoutes))
      source.addEventListener(type, ({ data }: MessageEvent<string>) => listener.onEvent(data));
  };

  const reconnect = async () => {
    const error: unknown = await callFleet("access").then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error === undefined) return open();
    const isUnauthorized = error instanceof FleetError && error.status === 401;
    listener.onState(isUnauthorized ? "signed-out" : "away");
    timer = window.setTimeout(reconnect, retryDelayMs * (isUnauthorized ? 5 : 1));
  };

  open();
  return () => {
    source.close();
    window.clearTimeout(timer);
  };
}
