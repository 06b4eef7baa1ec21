import type { TimelineEntry } from "@herdctl/server/contract";

export interface Trends {
  /** Seconds since 1970, rising, as the charts want them. */
  times: number[];
  costs: number[];
  durations: number[];
}

/** Of the runs that have ended: what each cost and how long it took. */
export function trendsOf(jobs: readonly TimelineEntry[]): Trends {
  const ended = jobs
    .flatMap(({ started_at, finished_at, cost_usd, duration_seconds }) =>
      started_at === null || finished_at === null
        ? []
        : [
            {
              at: Date.parse(started_at) / 1000,
              cost: cost_usd ?? 0,
              duration: duration_seconds ?? 0,
            },
          ],
    )
    .sort((one, other) => one.at - other.at);
  return {
    times: ended.map(({ at }) => at),
    costs: ended.map(({ cost }) => cost),
    durations: ended.map(({ duration }) => duration),
  };
}
