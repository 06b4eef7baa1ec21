import type { JobOutput } from "@herdctl/core";
import { BoundedQueue } from "./bounded-queue.ts";

/** How much is held for those who sit down a little late, and for each who is a little behind. */
const held = { items: 500, size: 2 * 1024 * 1024 };

interface Piece {
  output: JobOutput;
  size: number;
}

export interface Seat {
  read(): AsyncIterable<JobOutput>;
  /** The job is over and all of it was given. Else he fell behind, and can read on by himself. */
  readonly hasAll: boolean;
}

/** What is added to the log of one job, read once for all who sit here; over when the last one leaves. */
export class JobFeed {
  readonly #pieces: Piece[] = [];
  readonly #seats = new Set<TakenSeat>();
  readonly #empty = new AbortController();
  #size = 0;
  #broken: unknown;

  constructor(
    source: (signal: AbortSignal) => AsyncIterable<JobOutput>,
    /** Where what is held begins. */
    private start: number,
    private readonly onOver: () => void,
  ) {
    void this.#read(source(this.#empty.signal));
  }

  /** Undefined when what comes after this position is no longer held. */
  sit(position: number, signal: AbortSignal): Seat | undefined {
    if (position < this.start) return undefined;
    const seat = new TakenSeat(position, signal, () => this.#leave(seat));
    for (const piece of this.#pieces) seat.give(piece);
    this.#seats.add(seat);
    return seat;
  }

  async #read(source: AsyncIterable<JobOutput>): Promise<void> {
    try {
      for await (const output of source) this.#add(output);
    } catch (error) {
      this.#broken = error;
    }
    this.onOver();
    for (const seat of this.#seats) seat.end(this.#broken);
  }

  #add(output: JobOutput): void {
    // Bytes of the log, near enough: a message is as long there as it is here.
    const size = output.offset - (this.#pieces.at(-1)?.output.offset ?? this.start);
    const piece = { output, size };
    this.#pieces.push(piece);
    this.#size += size;
    while (this.#pieces.length > held.items || this.#size > held.size) {
      const gone = this.#pieces.shift();
      if (!gone) break;
      this.#size -= gone.size;
      this.start = gone.output.offset;
    }
    for (const seat of this.#seats) seat.give(piece);
  }

  #leave(seat: TakenSeat): void {
    this.#seats.delete(seat);
    if (this.#seats.size > 0) return;
    this.onOver();
    this.#empty.abort();
  }
}

class TakenSeat implements Seat {
  readonly #queue = new BoundedQueue<JobOutput>(held);
  readonly #leave: () => void;
  #hasAll = false;
  #broken: unknown;

  constructor(
    private readonly position: number,
    private readonly signal: AbortSignal,
    leave: () => void,
  ) {
    this.#leave = () => {
      signal.removeEventListener("abort", this.#leave);
      this.#queue.close();
      leave();
    };
    signal.addEventListener("abort", this.#leave, { once: true });
  }

  get hasAll(): boolean {
    return this.#hasAll;
  }

  give({ output, size }: Piece): void {
    if (output.offset <= this.position) return;
    if (!this.#queue.push(output, size)) this.#leave();
  }

  end(broken: unknown): void {
    this.#broken = broken;
    this.#hasAll = broken === undefined;
    this.#leave();
  }

  async *read(): AsyncGenerator<JobOutput> {
    try {
      for await (const output of this.#queue.read()) {
        if (this.signal.aborted) return;
        yield output;
      }
      if (this.#broken !== undefined) throw this.#broken;
    } finally {
      this.#leave();
    }
  }
}
