import type { FleetEvent } from "./control.ts";

type Listener<T extends FleetEvent["type"]> = (event: Extract<FleetEvent, { type: T }>) => void;

/** Tells everybody who listens. A listener that fails does not keep the others from hearing. */
export class EventHub {
  private readonly listeners = new Set<(event: FleetEvent) => void>();
  private readonly carriers = new Set<(event: FleetEvent) => void>();
  private readonly unsure = new Set<() => void>();
  private readonly streams = new Set<() => void>();
  private closed = false;

  constructor(private readonly onFailure: (error: unknown) => void) {}

  emit(event: FleetEvent): void {
    this.tell(this.listeners, event);
    this.tell(this.carriers, event);
  }

  /** What happened on another node: told to all but those who carry news to other nodes. */
  emitFromElsewhere(event: FleetEvent): void {
    this.tell(this.listeners, event);
  }

  /** For whoever carries to other nodes what happens on this one. */
  carry(carrier: (event: FleetEvent) => void): () => void {
    this.carriers.add(carrier);
    return () => void this.carriers.delete(carrier);
  }

  /** News of other nodes may have got lost: whoever waits for some looks at the records again. */
  onMissed(look: () => void): () => void {
    this.unsure.add(look);
    return () => void this.unsure.delete(look);
  }

  tellMissed(): void {
    this.tell(this.unsure, undefined);
  }

  private tell<T>(listeners: ReadonlySet<(told: T) => void>, told: T): void {
    for (const listener of listeners) {
      try {
        listener(told);
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

  /** There will be no more: streams end after what they hold. */
  close(): void {
    this.closed = true;
    for (const end of this.streams) end();
  }

  /** All events from the call on, also those that come before the first is asked for. */
  stream(signal: AbortSignal): AsyncIterable<FleetEvent> {
    const waiting: FleetEvent[] = [];
    let isOpen = !signal.aborted && !this.closed;
    let wake: () => void = () => undefined;
    const listener = (event: FleetEvent) => {
      waiting.push(event);
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
            yield* waiting.splice(0);
            if (waiting.length > 0 || signal.aborted) continue;
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
