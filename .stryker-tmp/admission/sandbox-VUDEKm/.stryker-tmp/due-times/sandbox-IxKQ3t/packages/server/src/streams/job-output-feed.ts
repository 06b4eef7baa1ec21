import type { JobOutput } from "@herdctl/protocol";
import { BoundedQueue } from "./bounded-queue.ts";

/** Limits of the replay buffer for late subscribers, and of each subscriber's queue. */
const bufferLimit = { items: 500, size: 2 * 1024 * 1024 };

interface BufferedOutput {
  output: JobOutput;
  size: number;
}

export interface OutputSubscription {
  read(): AsyncIterable<JobOutput>;
  /** True if the job has finished and all output was read. Otherwise the subscriber fell behind and must read from the log. */
  readonly isComplete: boolean;
}

/** Follows the log of one job once for all subscribers. Ends when the last one unsubscribes. */
export class JobOutputFeed {
  readonly #buffer: BufferedOutput[] = [];
  readonly #subscriptions = new Set<QueuedSubscription>();
  readonly #stopController = new AbortController();
  #bufferBytes = 0;
  #error: unknown;

  constructor(
    source: (signal: AbortSignal) => AsyncIterable<JobOutput>,
    /** The log offset where the buffer starts. */
    private bufferStart: number,
    private readonly onEnd: () => void,
  ) {
    void this.#readSource(source(this.#stopController.signal));
  }

  /** Undefined if the buffer no longer contains the output after this position. */
  subscribe(position: number, signal: AbortSignal): OutputSubscription | undefined {
    if (position < this.bufferStart) return undefined;
    const subscription = new QueuedSubscription(position, signal, () =>
      this.#unsubscribe(subscription),
    );
    for (const entry of this.#buffer) subscription.push(entry);
    this.#subscriptions.add(subscription);
    return subscription;
  }

  async #readSource(source: AsyncIterable<JobOutput>): Promise<void> {
    try {
      for await (const output of source) this.#append(output);
    } catch (error) {
      this.#error = error;
    }
    this.onEnd();
    for (const subscription of this.#subscriptions) subscription.finish(this.#error);
  }

  #append(output: JobOutput): void {
    // Approximates the size in memory by the bytes in the log.
    const size = output.offset - (this.#buffer.at(-1)?.output.offset ?? this.bufferStart);
    const entry = { output, size };
    this.#buffer.push(entry);
    this.#bufferBytes += size;
    while (this.#buffer.length > bufferLimit.items || this.#bufferBytes > bufferLimit.size) {
      const removed = this.#buffer.shift();
      if (!removed) break;
      this.#bufferBytes -= removed.size;
      this.bufferStart = removed.output.offset;
    }
    for (const subscription of this.#subscriptions) subscription.push(entry);
  }

  #unsubscribe(subscription: QueuedSubscription): void {
    this.#subscriptions.delete(subscription);
    if (this.#subscriptions.size > 0) return;
    this.onEnd();
    this.#stopController.abort();
  }
}

class QueuedSubscription implements OutputSubscription {
  readonly #queue = new BoundedQueue<JobOutput>(bufferLimit);
  readonly #unsubscribe: () => void;
  #hasReadAll = false;
  #error: unknown;

  constructor(
    private readonly position: number,
    private readonly signal: AbortSignal,
    onUnsubscribe: () => void,
  ) {
    this.#unsubscribe = () => {
      signal.removeEventListener("abort", this.#unsubscribe);
      this.#queue.close();
      onUnsubscribe();
    };
    signal.addEventListener("abort", this.#unsubscribe, { once: true });
  }

  get isComplete(): boolean {
    return this.#hasReadAll;
  }

  push({ output, size }: BufferedOutput): void {
    if (output.offset <= this.position) return;
    if (!this.#queue.push(output, size)) this.#unsubscribe();
  }

  finish(sourceError: unknown): void {
    this.#error = sourceError;
    this.#hasReadAll = sourceError === undefined;
    this.#unsubscribe();
  }

  async *read(): AsyncGenerator<JobOutput> {
    try {
      for await (const output of this.#queue.read()) {
        if (this.signal.aborted) return;
        yield output;
      }
      if (this.#error !== undefined) throw this.#error;
    } finally {
      this.#unsubscribe();
    }
  }
}
