import { setTimeout as delay } from "node:timers/promises";
import type {
  FleetEvent,
  FleetEventListener,
  FleetEventOf,
  FleetEventType,
} from "../api/fleet-control.ts";

interface Subscription {
  type: FleetEventType;
  listener: unknown;
  call(event: FleetEvent): void;
}

/**
 * Listeners of one event stream, which is open as long as there are any. After a restart of the
 * fleet they receive its next events; events while the stream was closed are lost.
 */
export class RemoteEvents {
  readonly #subscriptions = new Set<Subscription>();
  #stream: AbortController | undefined;

  constructor(
    private readonly open: (signal: AbortSignal) => AsyncIterable<FleetEvent>,
    private readonly retryDelayMs = 1_000,
  ) {}

  on<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): () => void {
    return this.#subscribe({ type, listener, call: (event) => listener(event as FleetEventOf<T>) });
  }

  once<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): () => void {
    const call = (event: FleetEvent) => {
      unsubscribe();
      listener(event as FleetEventOf<T>);
    };
    const unsubscribe = this.#subscribe({ type, listener, call });
    return unsubscribe;
  }

  off<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): void {
    for (const subscription of this.#subscriptions) {
      if (subscription.type === type && subscription.listener === listener)
        this.#unsubscribe(subscription);
    }
  }

  close(): void {
    this.#subscriptions.clear();
    this.#stream?.abort();
    this.#stream = undefined;
  }

  #subscribe(subscription: Subscription): () => void {
    this.#subscriptions.add(subscription);
    if (!this.#stream) {
      this.#stream = new AbortController();
      void this.#dispatch(this.#stream.signal);
    }
    return () => this.#unsubscribe(subscription);
  }

  #unsubscribe(subscription: Subscription): void {
    this.#subscriptions.delete(subscription);
    if (this.#subscriptions.size === 0) this.close();
  }

  /** Reopens a stream that ended with its fleet, until the listeners or the client are gone. */
  async #dispatch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const event of this.open(signal)) {
          for (const subscription of this.#subscriptions)
            if (subscription.type === event.type) callSafely(subscription, event);
        }
      } catch {
        // The fleet is gone. Calls report that.
      }
      await delay(this.retryDelayMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}

/** An error of a listener is an uncaught exception of the program, and affects no other listener. */
function callSafely(subscription: Subscription, event: FleetEvent): void {
  try {
    subscription.call(event);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
