import type { FleetControl, JobOutput } from "@herdctl/protocol";
import { JobOutputFeed } from "./job-output-feed.ts";

/**
 * Job output for many subscribers. Each subscriber reads the existing log at its own pace; at the end
 * of the log, all subscribers share one follower.
 */
export class JobOutputFeeds {
  readonly #feeds = new Map<string, JobOutputFeed>();

  constructor(private readonly fleet: FleetControl) {}

  read(jobId: string, from: number): AsyncIterable<JobOutput> {
    return this.fleet.jobs.output(jobId, { from });
  }

  /** Ends when the job has finished, or immediately when the signal is aborted. */
  async *follow(jobId: string, from: number, signal: AbortSignal): AsyncGenerator<JobOutput> {
    let position = from;
    while (!signal.aborted) {
      for await (const output of this.read(jobId, position)) {
        yield output;
        position = output.offset;
      }
      if (signal.aborted) return;
      const subscription = this.#feedFor(jobId, position).subscribe(position, signal);
      if (!subscription) continue;
      for await (const output of subscription.read()) {
        yield output;
        position = output.offset;
      }
      if (subscription.isComplete) return;
    }
  }

  #feedFor(jobId: string, position: number): JobOutputFeed {
    const existing = this.#feeds.get(jobId);
    if (existing) return existing;
    const feed: JobOutputFeed = new JobOutputFeed(
      (signal) => this.fleet.jobs.output(jobId, { from: position, follow: true, signal }),
      position,
      () => {
        if (this.#feeds.get(jobId) === feed) this.#feeds.delete(jobId);
      },
    );
    this.#feeds.set(jobId, feed);
    return feed;
  }
}
