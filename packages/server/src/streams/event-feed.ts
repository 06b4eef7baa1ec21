import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { FleetControl, FleetEvent } from "@herdctl/protocol";
import { BoundedQueue } from "./bounded-queue.ts";
import type { Connection } from "./connection.ts";
import { findEventAgent } from "./find-event-agent.ts";
import { encodeSseEvent } from "./sse-events.ts";

interface BufferedEvent {
  frame: Uint8Array;
  isOutput: boolean;
  /** Null for events of the whole fleet. */
  agent: string | null;
}

interface Subscriber {
  connection: Connection;
  subscription: EventSubscription;
}

export interface EventSubscription {
  /** The id of the last event that the client received. */
  lastEventId: string | undefined;
  /** Whether to include agent output. */
  includesOutput: boolean;
  /** Only events of these agents; null for all events. */
  agents: readonly string[] | null;
}

/** Limits of the replay buffer for reconnecting clients, and of each subscriber's queue. */
const replayBufferLimit = { items: 2_000, size: 8 * 1024 * 1024 };
const subscriberQueueLimit = {
  items: 2 * replayBufferLimit.items,
  size: 2 * replayBufferLimit.size,
};
const yieldEveryEvents = 64;

/**
 * The fleet's events, numbered and encoded once for all subscribers. It starts listening with the
 * first subscriber. A subscriber that is too slow is disconnected; if it missed too many events when
 * it reconnects, it receives a `reset` event.
 */
export class EventFeed {
  /** Event numbers restart with each fleet process; the epoch tells processes apart. */
  readonly #epoch = randomBytes(4).toString("hex");
  readonly #buffer: BufferedEvent[] = [];
  readonly #subscribers = new Map<BoundedQueue<Uint8Array>, Subscriber>();
  #bufferBytes = 0;
  #lastNumber = 0;
  #listenTask: Promise<void> | undefined;
  #hasEnded = false;

  constructor(private readonly fleet: Pick<FleetControl, "events" | "jobs">) {}

  /** Returns the SSE frames for one subscriber. */
  subscribe(subscription: EventSubscription, connection: Connection): AsyncIterable<Uint8Array> {
    this.#listenTask ??= this.#listen();
    const queue = new BoundedQueue<Uint8Array>(subscriberQueueLimit);
    for (const entry of this.#replayAfter(subscription.lastEventId)) {
      if (matchesSubscription(entry, subscription)) queue.push(entry.frame, entry.frame.length);
    }
    const unsubscribe = () => {
      this.#subscribers.delete(queue);
      queue.close();
    };
    if (this.#hasEnded || connection.signal.aborted) unsubscribe();
    else {
      this.#subscribers.set(queue, { connection, subscription });
      connection.signal.addEventListener("abort", unsubscribe, { once: true });
    }
    return this.#streamFrames(queue, connection);
  }

  /** Aborts the connection when the fleet stops, because a regular end would mean that there are no more events. */
  async *#streamFrames(
    queue: BoundedQueue<Uint8Array>,
    connection: Connection,
  ): AsyncGenerator<Uint8Array> {
    yield* queue.read();
    if (this.#hasEnded) connection.destroy();
  }

  #replayAfter(lastEventId: string | undefined): BufferedEvent[] {
    if (lastEventId === undefined) return [];
    const [epoch, text] = lastEventId.split("-");
    const seenNumber = Number(text);
    const firstNumber = this.#lastNumber - this.#buffer.length + 1;
    const isKnown =
      epoch === this.#epoch && seenNumber >= firstNumber - 1 && seenNumber <= this.#lastNumber;
    if (isKnown) return this.#buffer.slice(seenNumber + 1 - firstNumber);
    const data = { type: "reset", after: lastEventId };
    const frame = encodeSseEvent({
      id: this.#eventId(this.#lastNumber),
      event: "reset",
      json: JSON.stringify(data),
    });
    return [{ frame, isOutput: false, agent: everyAgent }];
  }

  async #listen(): Promise<void> {
    try {
      for await (const event of this.fleet.events()) {
        this.#append(event, await findEventAgent(this.fleet, event));
        // Yield during bursts, so that subscribers can keep up.
        if (this.#lastNumber % yieldEveryEvents === 0) await setImmediate();
      }
    } finally {
      this.#hasEnded = true;
      for (const queue of this.#subscribers.keys()) queue.close();
      this.#subscribers.clear();
    }
  }

  #append(event: FleetEvent, agent: string | null): void {
    this.#lastNumber += 1;
    const frame = encodeSseEvent({
      id: this.#eventId(this.#lastNumber),
      event: event.type,
      json: JSON.stringify(event),
    });
    const entry = { frame, isOutput: event.type === "job:output", agent };
    this.#buffer.push(entry);
    this.#bufferBytes += frame.length;
    while (
      this.#buffer.length > replayBufferLimit.items ||
      this.#bufferBytes > replayBufferLimit.size
    ) {
      this.#bufferBytes -= this.#buffer.shift()?.frame.length ?? 0;
    }
    for (const [queue, { connection, subscription }] of this.#subscribers) {
      if (!matchesSubscription(entry, subscription)) continue;
      if (!queue.push(frame, frame.length)) connection.destroy();
    }
  }

  #eventId(number: number): string {
    return `${this.#epoch}-${number}`;
  }
}

/** Marks events for all subscribers. */
const everyAgent = "*";

function matchesSubscription(
  { isOutput, agent }: BufferedEvent,
  { includesOutput, agents }: EventSubscription,
): boolean {
  if (isOutput && !includesOutput) return false;
  return (
    /* defence: agent-token-events */ agents === null ||
    agent === everyAgent ||
    (agent !== null && agents.includes(agent))
  );
}
