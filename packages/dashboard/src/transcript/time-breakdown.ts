import type { Bar, Span, SpanKind } from "./waterfall-bars.ts";

export type TimeCategory = "queue" | "start" | "api" | "tool" | "wait" | "retry" | "other";
export type TimeBreakdown = Record<TimeCategory, number>;

/** The category of each kind of span. Other kinds do not count. */
const categoryBySpanKind: Partial<Record<SpanKind, TimeCategory>> = {
  wait: "wait",
  retry: "retry",
  tool: "tool",
  api: "api",
  queue: "queue",
  start: "start",
};
const categoryPriority: TimeCategory[] = ["wait", "retry", "tool", "api", "start", "queue"];

/** Divides a job's time into categories. Each moment counts once, for the open category of highest priority. */
export function computeTimeBreakdown(
  bars: readonly Bar[],
  range: { start: number; end: number },
): TimeBreakdown {
  const times: TimeBreakdown = { queue: 0, start: 0, api: 0, tool: 0, wait: 0, retry: 0, other: 0 };
  const open = new Map<TimeCategory, number>();
  let from = range.start;
  for (const { at, category, delta } of toEdges(bars, range)) {
    times[currentCategory(open)] += Math.max(0, at - from);
    from = Math.max(from, at);
    open.set(category, (open.get(category) ?? 0) + delta);
  }
  times.other += Math.max(0, range.end - from);
  return times;
}

/** The time range of all bars. Open spans end now. */
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
  category: TimeCategory;
  delta: 1 | -1;
}

function toEdges(bars: readonly Bar[], range: { start: number; end: number }): Edge[] {
  const clamp = (at: number) => Math.min(range.end, Math.max(range.start, at));
  const edges = bars
    .flatMap(({ jobId, spans }) => (jobId === null ? spans : []))
    .flatMap(({ kind, start, end }: Span): Edge[] => {
      const category = categoryBySpanKind[kind];
      if (!category) return [];
      return [
        { at: clamp(start), category, delta: 1 },
        { at: clamp(end ?? range.end), category, delta: -1 },
      ];
    });
  return edges.sort((a, b) => a.at - b.at);
}

function currentCategory(open: ReadonlyMap<TimeCategory, number>): TimeCategory {
  return categoryPriority.find((category) => (open.get(category) ?? 0) > 0) ?? "other";
}
