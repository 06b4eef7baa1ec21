import type { ConnectionState } from "./connection.ts";
import { openEventStream, type StreamListener } from "./event-stream.ts";

type Told =
  | { kind: "event"; json: string }
  | { kind: "state"; state: ConnectionState }
  | { kind: "gap" }
  /** Of a page that has just come: how do things stand? */
  | { kind: "hello" };

const name = "herdctl-events";

/**
 * One stream for all tabs of this browser, which opens six connections to a server at most: the tab
 * that holds the lock reads it and tells the others; when it goes, the next one takes over.
 */
export function shareStream(listener: StreamListener): () => void {
  // Only a page that came over TLS or from this machine has locks.
  if (!("locks" in navigator)) return openEventStream(listener);
  const channel = new BroadcastChannel(name);
  const stop = new AbortController();
  let own: ConnectionState | undefined;
  let wasTold = false;

  channel.onmessage = ({ data }: MessageEvent<Told>) => {
    if (data.kind !== "hello") {
      wasTold = true;
      return hear(listener, data);
    }
    if (own !== undefined) channel.postMessage({ kind: "state", state: own } satisfies Told);
  };
  const tell = (told: Told) => {
    if (told.kind === "state") own = told.state;
    hear(listener, told);
    channel.postMessage(told);
  };
  const read = () =>
    new Promise<void>((ended) => {
      const close = openEventStream({
        event: (json) => tell({ kind: "event", json }),
        state: (state) => tell({ kind: "state", state }),
        gap: () => tell({ kind: "gap" }),
      });
      // Between the stream of the tab before us and ours.
      if (wasTold) tell({ kind: "gap" });
      stop.signal.addEventListener("abort", () => {
        close();
        ended();
      });
    });

  channel.postMessage({ kind: "hello" } satisfies Told);
  // Whoever is stopped while he waits for his turn is refused it.
  navigator.locks.request(name, { signal: stop.signal }, read).catch(() => undefined);
  return () => {
    stop.abort();
    channel.close();
  };
}

function hear(listener: StreamListener, told: Told): void {
  if (told.kind === "event") listener.event(told.json);
  if (told.kind === "state") listener.state(told.state);
  if (told.kind === "gap") listener.gap();
}
