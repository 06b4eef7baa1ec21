import type {
  FleetEvent,
  FleetEventDetails,
  FleetEventListener,
  FleetEventType,
} from "@herdctl/protocol";

/** A listener as it was given to `on` or `once`, and the one that is called with every event. */
interface Subscription {
  type: FleetEventType;
  listener: unknown;
  typed: (event: FleetEvent) => void;
}

/** Delivers fleet events to listeners. A listener that throws does not affect the others. */
export class EventHub {
  private readonly listeners = new Set<(event: FleetEvent) => void>();
  private readonly subscriptions = new Set<Subscription>();
  private readonly forwarders = new Set<(event: FleetEvent) => void>();
  private readonly missedListeners = new Set<() => void>();
  private readonly streams = new Set<() => void>();
  private isClosed = false;

  constructor(private readonly onListenerError: (error: unknown) => void) {}

  emit(details: FleetEventDetails): void {
    const event: FleetEvent = { ...details, at: new Date().toISOString() };
    this.notify(this.listeners, event);
    this.notify(this.forwarders, event);
  }

  /** Emits an event of another node to all listeners except forwarders. */
  emitRemote(event: FleetEvent): void {
    this.notify(this.listeners, event);
  }

  /** Registers a forwarder, which sends events of this node to other nodes. */
  onLocalEvent(forwarder: (event: FleetEvent) => void): () => void {
    this.forwarders.add(forwarder);
    return () => void this.forwarders.delete(forwarder);
  }

  /** Events of other nodes may have been lost: callers that wait for one must read the store again. */
  onEventsMissed(listener: () => void): () => void {
    this.missedListeners.add(listener);
    return () => void this.missedListeners.delete(listener);
  }

  emitEventsMissed(): void {
    this.notify(this.missedListeners, undefined);
  }

  private notify<T>(listeners: ReadonlySet<(payload: T) => void>, payload: T): void {
    for (const listener of listeners) {
      try {
        listener(payload);
      } catch (error) {
        this.onListenerError(error);
      }
    }
  }

  on<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): () => void {
    const typed = (event: FleetEvent) => {
      if (event.type === type) listener(event as Parameters<typeof listener>[0]);
    };
    return this.subscribe({ type, listener, typed });
  }

  once<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): () => void {
    const typed = (event: FleetEvent) => {
      if (event.type !== type) return;
      unsubscribe();
      listener(event as Parameters<typeof listener>[0]);
    };
    const unsubscribe = this.subscribe({ type, listener, typed });
    return unsubscribe;
  }

  /** Removes every subscription of this listener to this type. */
  off<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): void {
    for (const subscription of this.subscriptions) {
      if (subscription.type === type && subscription.listener === listener)
        this.unsubscribe(subscription);
    }
  }

  private subscribe(subscription: Subscription): () => void {
    this.subscriptions.add(subscription);
    this.listeners.add(subscription.typed);
    return () => this.unsubscribe(subscription);
  }

  private unsubscribe(subscription: Subscription): void {
    this.subscriptions.delete(subscription);
    this.listeners.delete(subscription.typed);
  }

  /** Streams end after their buffered events. */
  close(): void {
    this.isClosed = true;
    for (const end of this.streams) end();
  }

  /** All events emitted after this call, including those before the first `next()`. */
  stream(signal: AbortSignal): AsyncIterable<FleetEvent> {
    const buffered: FleetEvent[] = [];
    let isOpen = !signal.aborted && !this.isClosed;
    let wake: () => void = () => undefined;
    const listener = (event: FleetEvent) => {
      buffered.push(event);
      wake();
    };
    const end = () => {
      isOpen = false;
      this.listeners.delete(listener);
      this.streams.delete(end);
      signal.removeEventListener("abort", end);
      wake();
    };
    if (isOpen) {
      this.listeners.add(listener);
      this.streams.add(end);
      signal.addEventListener("abort", end, { once: true });
    }
    return {
      async *[Symbol.asyncIterator]() {
        try {
          while (!signal.aborted) {
            yield* buffered.splice(0);
            if (buffered.length > 0 || signal.aborted) continue;
            if (!isOpen) return;
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
        } finally {
          end();
        }
      },
    };
  }
}
