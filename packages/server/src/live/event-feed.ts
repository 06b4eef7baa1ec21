import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { FleetControl, FleetEvent } from "@herdctl/core";
import { agentOfEvent } from "./agent-of-event.ts";
import { BoundedQueue } from "./bounded-queue.ts";
import type { Connection } from "./connection.ts";
import { sseFrame } from "./frames.ts";

interface Entry {
  frame: Uint8Array;
  isOutput: boolean;
  /** Null when it concerns the whole fleet. */
  agent: string | null;
}

interface Reader {
  connection: Connection;
  wants: Wants;
}

export interface Wants {
  /** The id of the event that was seen last. */
  after: string | undefined;
  /** Also what agents say. */
  output: boolean;
  /** Only events of these agents; null for all events. */
  agents: readonly string[] | null;
}

/** What is kept for those who come back, and how far one may fall behind before he is cut off. */
const kept = { items: 2_000, size: 8 * 1024 * 1024 };
const behind = { items: 2 * kept.items, size: 2 * kept.size };
const breath = 64;

/**
 * The events of a fleet, numbered and written out once for all who look on. It listens from the
 * first of them on. Nobody waits for a slow one: he is cut off, and told to look anew if he returns.
 */
export class EventFeed {
  /** Numbers begin anew with each fleet process; one of another process means nothing here. */
  readonly #epoch = randomBytes(4).toString("hex");
  readonly #entries: Entry[] = [];
  readonly #readers = new Map<BoundedQueue<Uint8Array>, Reader>();
  #size = 0;
  #last = 0;
  #listening: Promise<void> | undefined;
  #hasEnded = false;

  constructor(private readonly fleet: Pick<FleetControl, "events" | "job">) {}

  /** Frames for one who looks on. */
  join(wants: Wants, connection: Connection): AsyncIterable<Uint8Array> {
    this.#listening ??= this.#listen();
    const queue = new BoundedQueue<Uint8Array>(behind);
    for (const entry of this.#missed(wants.after)) {
      if (isWanted(entry, wants)) queue.push(entry.frame, entry.frame.length);
    }
    const leave = () => {
      this.#readers.delete(queue);
      queue.close();
    };
    if (this.#hasEnded || connection.signal.aborted) leave();
    else {
      this.#readers.set(queue, { connection, wants });
      connection.signal.addEventListener("abort", leave, { once: true });
    }
    return this.#frames(queue, connection);
  }

  /** An end in good order would say that nothing more will ever happen. */
  async *#frames(
    queue: BoundedQueue<Uint8Array>,
    connection: Connection,
  ): AsyncGenerator<Uint8Array> {
    yield* queue.read();
    if (this.#hasEnded) connection.cut();
  }

  #missed(lastId: string | undefined): Entry[] {
    if (lastId === undefined) return [];
    const [epoch, text] = lastId.split("-");
    const seen = Number(text);
    const first = this.#last - this.#entries.length + 1;
    const isKnown = epoch === this.#epoch && seen >= first - 1 && seen <= this.#last;
    if (isKnown) return this.#entries.slice(seen + 1 - first);
    const data = { type: "reset", after: lastId };
    const frame = sseFrame({
      id: this.#id(this.#last),
      event: "reset",
      json: JSON.stringify(data),
    });
    return [{ frame, isOutput: false, agent: anyAgent }];
  }

  async #listen(): Promise<void> {
    try {
      for await (const event of this.fleet.events(new AbortController().signal)) {
        this.#append(event, await agentOfEvent(this.fleet, event));
        // A burst must not outrun those who would keep up, if they only had a turn.
        if (this.#last % breath === 0) await setImmediate();
      }
    } finally {
      this.#hasEnded = true;
      for (const queue of this.#readers.keys()) queue.close();
      this.#readers.clear();
    }
  }

  #append(event: FleetEvent, agent: string | null): void {
    this.#last += 1;
    const frame = sseFrame({
      id: this.#id(this.#last),
      event: event.type,
      json: JSON.stringify(event),
    });
    const entry = { frame, isOutput: event.type === "job:output", agent };
    this.#entries.push(entry);
    this.#size += frame.length;
    while (this.#entries.length > kept.items || this.#size > kept.size) {
      this.#size -= this.#entries.shift()?.frame.length ?? 0;
    }
    for (const [queue, { connection, wants }] of this.#readers) {
      if (!isWanted(entry, wants)) continue;
      if (!queue.push(frame, frame.length)) connection.cut();
    }
  }

  #id(number: number): string {
    return `${this.#epoch}-${number}`;
  }
}

/** Of what every reader is told. */
const anyAgent = "*";

function isWanted({ isOutput, agent }: Entry, { output, agents }: Wants): boolean {
  if (isOutput && !output) return false;
  return agents === null || agent === anyAgent || (agent !== null && agents.includes(agent));
}
