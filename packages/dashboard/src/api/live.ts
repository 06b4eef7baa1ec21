import type { FleetEvent } from "@herdctl/server/contract";
import type { QueryClient } from "@tanstack/react-query";
import { addressOf, ask } from "./ask.ts";
import { changedBy } from "./changes.ts";
import { setConnection } from "./connection.ts";
import { FleetError } from "./fleet-error.ts";
import { Refresher } from "./refresher.ts";

type EventListener = (event: FleetEvent) => void;

const listeners = new Set<EventListener>();
const tryAgainAfter = 1_000;

/** Whoever wants to know of each event, such as what tells people of it. */
export function onFleetEvent(listener: EventListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * The one stream of the page. The browser reopens it by itself and names the event it saw last; what
 * it gives up for good (a refusal) is opened anew here, once the fleet answers again.
 */
export function followFleet(client: QueryClient): () => void {
  const refresher = new Refresher(client);
  let source: EventSource;
  let timer: number | undefined;
  let wasLost = false;

  const open = () => {
    source = new EventSource(addressOf("events", { query: { output: "false" } }));
    source.onopen = () => {
      setConnection("live");
      // An interval in which nothing could be asked; what was asked in vain stands in no event.
      if (wasLost) refresher.everything();
      wasLost = false;
    };
    source.onerror = () => {
      wasLost = true;
      setConnection("away");
      if (source.readyState === EventSource.CLOSED)
        timer = window.setTimeout(lookAgain, tryAgainAfter);
    };
    source.addEventListener("reset", () => refresher.everything());
    for (const type of Object.keys(changedBy)) source.addEventListener(type, take);
  };

  const take = ({ data }: MessageEvent<string>) => {
    // The edge: the fleet's own schemas have shaped it.
    const event = JSON.parse(data) as FleetEvent;
    refresher.add(changedBy[event.type] ?? []);
    for (const listener of listeners) listener(event);
  };

  const lookAgain = async () => {
    const error: unknown = await ask("access").then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error === undefined) return open();
    const isStranger = error instanceof FleetError && error.status === 401;
    setConnection(isStranger ? "signed-out" : "away");
    timer = window.setTimeout(lookAgain, tryAgainAfter * (isStranger ? 5 : 1));
  };

  open();
  return () => {
    source.close();
    window.clearTimeout(timer);
  };
}
