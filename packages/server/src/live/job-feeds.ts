import type { FleetControl, JobOutput } from "@herdctl/core";
import { JobFeed } from "./job-feed.ts";

/**
 * The output of jobs for many who look on. What is there already each reads for himself, as fast
 * as he takes it; at the end of the log all sit down with one reader of what is added.
 */
export class JobFeeds {
  readonly #feeds = new Map<string, JobFeed>();

  constructor(private readonly control: FleetControl) {}

  read(jobId: string, from: number): AsyncIterable<JobOutput> {
    return this.control.output(jobId, { from });
  }

  /** Ends in good order when the job has ended, and at once with the signal. */
  async *follow(jobId: string, from: number, signal: AbortSignal): AsyncGenerator<JobOutput> {
    let position = from;
    while (!signal.aborted) {
      for await (const output of this.read(jobId, position)) {
        yield output;
        position = output.offset;
      }
      if (signal.aborted) return;
      const seat = this.#feedOf(jobId, position).sit(position, signal);
      if (!seat) continue;
      for await (const output of seat.read()) {
        yield output;
        position = output.offset;
      }
      if (seat.hasAll) return;
    }
  }

  #feedOf(jobId: string, position: number): JobFeed {
    const known = this.#feeds.get(jobId);
    if (known) return known;
    const feed: JobFeed = new JobFeed(
      (signal) => this.control.output(jobId, { from: position, follow: signal }),
      position,
      () => {
        if (this.#feeds.get(jobId) === feed) this.#feeds.delete(jobId);
      },
    );
    this.#feeds.set(jobId, feed);
    return feed;
  }
}
