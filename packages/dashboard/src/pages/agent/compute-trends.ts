import type { TimelineEntry } from "@herdctl/server/contract";

export interface Trends {
  /** Unix times in seconds, ascending, as uPlot expects them. */
  times: number[];
  costs: number[];
  durations: number[];
}

/** Cost and duration of each finished run. */
export function computeTrends(jobs: readonly TimelineEntry[]): Trends {
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
    .sort((a, b) => a.at - b.at);
  return {
    times: ended.map(({ at }) => at),
    costs: ended.map(({ cost }) => cost),
    durations: ended.map(({ duration }) => duration),
  };
}
