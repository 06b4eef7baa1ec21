import type { Bar, Span, SpanKind } from "./waterfall.ts";

export type Share = "queue" | "start" | "api" | "tool" | "wait" | "retry" | "other";
export type Times = Record<Share, number>;

/** What each kind of span counts as; whoever waits, waits, whatever else goes on. */
const counts: Partial<Record<SpanKind, Share>> = {
  wait: "wait",
  retry: "retry",
  tool: "tool",
  api: "api",
  queue: "queue",
  start: "start",
};
const order: Share[] = ["wait", "retry", "tool", "api", "start", "queue"];

/** Where the time of a job went: every moment counts once, for the first of `order` that held. */
export function timesOf(bars: readonly Bar[], whole: { start: number; end: number }): Times {
  const times: Times = { queue: 0, start: 0, api: 0, tool: 0, wait: 0, retry: 0, other: 0 };
  const open = new Map<Share, number>();
  let from = whole.start;
  for (const { at, share, step } of edgesOf(bars, whole)) {
    times[holding(open)] += Math.max(0, at - from);
    from = Math.max(from, at);
    open.set(share, (open.get(share) ?? 0) + step);
  }
  times.other += Math.max(0, whole.end - from);
  return times;
}

/** From the first moment that is known to the last; what goes on lasts until now. */
export function extentOf(bars: readonly Bar[], now: number): { start: number; end: number } {
  let [start, end] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { spans } of bars)
    for (const span of spans) {
      start = Math.min(start, span.start);
      end = Math.max(end, span.end ?? now);
    }
  return start <= end ? { start, end } : { start: now, end: now };
}

interface Edge {
  at: number;
  share: Share;
  step: 1 | -1;
}

function edgesOf(bars: readonly Bar[], whole: { start: number; end: number }): Edge[] {
  const within = (at: number) => Math.min(whole.end, Math.max(whole.start, at));
  const edges = bars
    .flatMap(({ jobId, spans }) => (jobId === null ? spans : []))
    .flatMap(({ kind, start, end }: Span): Edge[] => {
      const share = counts[kind];
      if (!share) return [];
      return [
        { at: within(start), share, step: 1 },
        { at: within(end ?? whole.end), share, step: -1 },
      ];
    });
  return edges.sort((a, b) => a.at - b.at);
}

function holding(open: ReadonlyMap<Share, number>): Share {
  return order.find((share) => (open.get(share) ?? 0) > 0) ?? "other";
}
