import type { FleetEvent } from "./control.ts";

type Listener<T extends FleetEvent["type"]> = (event: Extract<FleetEvent, { type: T }>) => void;

/** Tells everybody who listens. A listener that fails does not keep the others from hearing. */
export class EventHub {
  private readonly listeners = new Set<(event: FleetEvent) => void>();

  constructor(private readonly onFailure: (error: unknown) => void) {}

  emit(event: FleetEvent): void {
    for (const listener of this.listeners) {
      try {
        listener(event);
      } catch (error) {
        this.onFailure(error);
      }
    }
  }

  on<T extends FleetEvent["type"]>(type: T, listener: Listener<T>): () => void {
    const typed = (event: FleetEvent) => {
      if (event.type === type) listener(event as Extract<FleetEvent, { type: T }>);
    };
    this.listeners.add(typed);
    return () => void this.listeners.delete(typed);
  }

  /** All events from the call on, also those that come before the first is asked for. */
  stream(signal: AbortSignal): AsyncIterable<FleetEvent> {
    const waiting: FleetEvent[] = [];
    let wake: () => void = () => undefined;
    const listener = (event: FleetEvent) => {
      waiting.push(event);
      wake();
    };
    const end = () => {
      this.listeners.delete(listener);
      wake();
    };
    if (!signal.aborted) this.listeners.add(listener);
    signal.addEventListener("abort", end, { once: true });
    return {
      async *[Symbol.asyncIterator]() {
        try {
          while (!signal.aborted) {
            yield* waiting.splice(0);
            if (waiting.length > 0 || signal.aborted) continue;
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
