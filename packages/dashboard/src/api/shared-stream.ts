import type { ConnectionState } from "./connection-state.ts";
import { openEventStream, type StreamListener } from "./event-stream.ts";

type StreamMessage =
  | { kind: "event"; json: string }
  | { kind: "state"; state: ConnectionState }
  | { kind: "gap" }
  /** A tab that has just opened asks for the current connection state. */
  | { kind: "hello" };

const channelName = "herdctl-events";

/**
 * All tabs share one event stream, because a browser opens at most six connections per server. The
 * tab that holds the lock reads the stream and forwards it; when that tab closes, another takes over.
 */
export function shareStream(listener: StreamListener): () => void {
  // The Web Locks API exists only on HTTPS pages and on localhost.
  if (!("locks" in navigator)) return openEventStream(listener);
  const channel = new BroadcastChannel(channelName);
  const stopController = new AbortController();
  let ownState: ConnectionState | undefined;
  let hasReceived = false;

  channel.onmessage = ({ data }: MessageEvent<StreamMessage>) => {
    if (data.kind !== "hello") {
      hasReceived = true;
      return dispatch(listener, data);
    }
    if (ownState !== undefined)
      channel.postMessage({ kind: "state", state: ownState } satisfies StreamMessage);
  };
  const publish = (message: StreamMessage) => {
    if (message.kind === "state") ownState = message.state;
    dispatch(listener, message);
    channel.postMessage(message);
  };
  const holdStream = () =>
    new Promise<void>((onEnded) => {
      const close = openEventStream({
        onEvent: (json) => publish({ kind: "event", json }),
        onState: (state) => publish({ kind: "state", state }),
        onGap: () => publish({ kind: "gap" }),
      });
      // Events may have been missed between the previous tab's stream and this one.
      if (hasReceived) publish({ kind: "gap" });
      stopController.signal.addEventListener("abort", () => {
        close();
        onEnded();
      });
    });

  channel.postMessage({ kind: "hello" } satisfies StreamMessage);
  // The request rejects if this tab stops while it waits for the lock.
  navigator.locks
    .request(channelName, { signal: stopController.signal }, holdStream)
    .catch(() => undefined);
  return () => {
    stopController.abort();
    channel.close();
  };
}

function dispatch(listener: StreamListener, message: StreamMessage): void {
  if (message.kind === "event") listener.onEvent(message.json);
  if (message.kind === "state") listener.onState(message.state);
  if (message.kind === "gap") listener.onGap();
}
