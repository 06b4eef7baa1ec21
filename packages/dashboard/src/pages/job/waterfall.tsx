import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import { extentOf } from "../../transcript/time-breakdown.ts";
import type { Transcript } from "../../transcript/transcript.ts";
import type { Bar, Span, SpanKind } from "../../transcript/waterfall-bars.ts";
import { Button } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { formatDuration } from "../../ui/format-quantities.ts";
import { type AxisTick, computeTicks } from "./axis-ticks.ts";
import { type CurrentEntry, useCurrentEntryKey } from "./current-entry.ts";
import { findBarKey } from "./find-bar-key.ts";

interface WaterfallProps {
  bars: Bar[];
  now: number;
  /** The entry at the top of the conversation view. */
  currentEntry: CurrentEntry;
  transcript: Transcript;
  onChoose(bar: Bar): void;
}

const estimateHeight = () => 24;

export function Waterfall({ bars, now, currentEntry, transcript, onChoose }: WaterfallProps) {
  const current = findBarKey(transcript, useCurrentEntryKey(currentEntry));
  const scrollContainer = useRef<HTMLDivElement>(null);
  const isHovered = useRef(false);
  const [fitMode, setFitMode] = useState<"all" | "visible">("all");
  const list = useVirtualizer({
    count: bars.length,
    getScrollElement: () => scrollContainer.current,
    estimateSize: estimateHeight,
    overscan: 12,
  });
  const items = list.getVirtualItems();
  const fullExtent = useMemo(() => addEndMargin(extentOf(bars, now)), [bars, now]);
  const visibleBars = bars.slice(items[0]?.index ?? 0, (items.at(-1)?.index ?? 0) + 1);
  const extent =
    fitMode === "visible" && visibleBars.length > 0
      ? addEndMargin(extentOf(visibleBars, now))
      : fullExtent;
  const ticks = computeTicks(extent.start - fullExtent.start, extent.end - fullExtent.start);

  useEffect(() => {
    if (current === undefined || isHovered.current) return;
    const index = bars.findIndex(({ key }) => key === current);
    if (index !== -1) list.scrollToIndex(index, { align: "auto" });
  }, [current, bars, list]);

  return (
    <section aria-label="Waterfall" className="flex h-full min-h-0 flex-col">
      <Axis ticks={ticks}>
        <Button
          size="small"
          variant="quiet"
          aria-pressed={fitMode === "visible"}
          onClick={() => setFitMode(fitMode === "all" ? "visible" : "all")}
        >
          {fitMode === "all" ? "Fit to view" : "Fit all"}
        </Button>
      </Axis>
      <div
        ref={scrollContainer}
        onPointerEnter={() => {
          isHovered.current = true;
        }}
        onPointerLeave={() => {
          isHovered.current = false;
        }}
        className="min-h-0 flex-1 overflow-y-auto overscroll-contain"
      >
        <div className="relative min-h-full w-full" style={{ height: list.getTotalSize() }}>
          <Grid ticks={ticks} />
          {items.map(({ index, start }) => {
            const bar = bars[index];
            return (
              bar && (
                <div
                  key={bar.key}
                  className="absolute inset-x-0 top-0 h-6"
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <BarLine
                    bar={bar}
                    extent={extent}
                    now={now}
                    isCurrent={bar.key === current}
                    onChoose={onChoose}
                  />
                </div>
              )
            );
          })}
        </div>
      </div>
    </section>
  );
}

interface Extent {
  start: number;
  end: number;
}

/** Leaves some space after the last bar. */
function addEndMargin({ start, end }: Extent): Extent {
  return { start, end: end + (end - start) * 0.03 };
}

/** Labels to the right of this position would not fit beside their tick. */
const maxLeftLabelShare = 0.7;

interface AxisProps {
  ticks: AxisTick[];
  children: React.ReactNode;
}

function Axis({ ticks, children }: AxisProps) {
  return (
    <div className="flex h-7 shrink-0 items-center border-b border-line">
      <div className="w-[42%] shrink-0 px-1">{children}</div>
      <div className="relative h-full flex-1">
        {ticks.map(({ at, share }) => (
          <span
            key={at}
            className={classNames(
              "absolute top-1.5 border-line px-1 text-xs whitespace-nowrap text-muted",
              share > maxLeftLabelShare ? "-translate-x-full border-r" : "border-l",
            )}
            style={{ left: `${share * 100}%` }}
          >
            {at === 0 ? "0" : formatDuration(at / 1000)}
          </span>
        ))}
      </div>
    </div>
  );
}

function Grid({ ticks }: { ticks: AxisTick[] }) {
  return (
    <div aria-hidden className="absolute inset-y-0 right-0 left-[42%]">
      {ticks.map(({ at, share }) => (
        <span
          key={at}
          className="absolute inset-y-0 border-l border-line"
          style={{ left: `${share * 100}%` }}
        />
      ))}
    </div>
  );
}

interface BarLineProps {
  bar: Bar;
  extent: Extent;
  now: number;
  isCurrent: boolean;
  onChoose(bar: Bar): void;
}

function BarLine({ bar, extent, now, isCurrent, onChoose }: BarLineProps) {
  const { label, detail, depth, spans, isError, jobId } = bar;
  const durationText = formatSpans(spans, now);
  const name = (
    <>
      <span className={classNames("shrink-0 font-medium", isError && "text-bad")}>{label}</span>
      <span className="min-w-0 truncate text-muted">{detail}</span>
    </>
  );
  const lineClass = classNames(
    "flex h-6 w-full items-center text-left text-sm hover:bg-hover",
    isCurrent && "bg-hover",
  );
  const line = (
    <>
      <span
        className="flex w-[42%] shrink-0 items-center gap-1.5 overflow-hidden pr-2 whitespace-nowrap"
        style={{ paddingLeft: 8 + depth * 12 }}
      >
        {name}
      </span>
      <span className="relative h-full flex-1" title={durationText}>
        {spans.map((span) => (
          <SpanBar
            key={`${span.kind}${span.start}`}
            span={span}
            extent={extent}
            now={now}
            isError={isError}
          />
        ))}
        <span className="sr-only">{durationText}</span>
      </span>
    </>
  );
  if (jobId !== null)
    return (
      <Link to="/jobs/$jobId" params={{ jobId }} className={lineClass}>
        {line}
      </Link>
    );
  return (
    <button type="button" className={lineClass} onClick={() => onChoose(bar)}>
      {line}
    </button>
  );
}

const colourByKind: Record<SpanKind, string> = {
  queue: "bg-idle-soft border border-line-strong",
  start: "bg-idle",
  attempt: "bg-idle",
  api: "bg-series-2",
  tool: "bg-series-1",
  agent: "bg-series-1 opacity-40",
  wait: "bg-wait-soft border border-dashed border-wait",
  retry: "bg-warn",
  job: "bg-series-4",
};

function SpanBar({
  span,
  extent,
  now,
  isError,
}: {
  span: Span;
  extent: Extent;
  now: number;
  isError: boolean;
}) {
  const fullExtent = Math.max(1, extent.end - extent.start);
  const from = Math.max(0, (span.start - extent.start) / fullExtent);
  const to = Math.min(1, ((span.end ?? now) - extent.start) / fullExtent);
  if (to < 0 || from > 1) return null;
  return (
    <span
      aria-hidden
      className={classNames(
        "absolute top-1.5 h-3 min-w-0.5 rounded-sm",
        colourByKind[span.kind],
        isError && (span.kind === "tool" || span.kind === "agent") && "bg-bad!",
        span.end === null && "animate-pulse",
      )}
      style={{ left: `${from * 100}%`, width: `${Math.max(0, to - from) * 100}%` }}
    />
  );
}

function formatSpans(spans: readonly Span[], now: number): string {
  return spans
    .map(
      ({ kind, start, end }) =>
        `${labelByKind[kind]} ${formatDuration(Math.max(0, (end ?? now) - start) / 1000)}`,
    )
    .join(", ");
}

const labelByKind: Record<SpanKind, string> = {
  queue: "queued",
  start: "took",
  attempt: "took",
  api: "API",
  tool: "took",
  agent: "took",
  wait: "waited",
  retry: "retry after",
  job: "ran",
};
