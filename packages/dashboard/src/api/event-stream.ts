import { addressOf, ask } from "./ask.ts";
import { changedBy } from "./changes.ts";
import type { ConnectionState } from "./connection.ts";
import { FleetError } from "./fleet-error.ts";

export interface StreamListener {
  /** An event of the fleet, as JSON. */
  event(json: string): void;
  state(state: ConnectionState): void;
  /** Something was told to nobody: whoever keeps a picture asks for it anew. */
  gap(): void;
}

const tryAgainAfter = 1_000;

/**
 * The browser reopens the stream by itself and names the event it saw last; what it gives up for
 * good (a refusal) is opened anew here, once the fleet answers again.
 */
export function openEventStream(listener: StreamListener): () => void {
  let source: EventSource;
  let timer: number | undefined;
  let wasLost = false;

  const open = () => {
    source = new EventSource(addressOf("events", { query: { output: "false" } }));
    source.onopen = () => {
      listener.state("live");
      // What was asked for meanwhile was asked in vain, and no event says so.
      if (wasLost) listener.gap();
      wasLost = false;
    };
    source.onerror = () => {
      wasLost = true;
      listener.state("away");
      if (source.readyState === EventSource.CLOSED)
        timer = window.setTimeout(lookAgain, tryAgainAfter);
    };
    source.addEventListener("reset", () => listener.gap());
    for (const type of Object.keys(changedBy))
      source.addEventListener(type, ({ data }: MessageEvent<string>) => listener.event(data));
  };

  const lookAgain = async () => {
    const error: unknown = await ask("access").then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error === undefined) return open();
    const isStranger = error instanceof FleetError && error.status === 401;
    listener.state(isStranger ? "signed-out" : "away");
    timer = window.setTimeout(lookAgain, tryAgainAfter * (isStranger ? 5 : 1));
  };

  open();
  return () => {
    source.close();
    window.clearTimeout(timer);
  };
}
