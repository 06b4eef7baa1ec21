import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { canvasColour, useThemeRevision } from "./canvas-colours.ts";
import type { SeriesColour } from "./series.ts";

export interface BarSeries {
  name: string;
  colour: SeriesColour;
  values: number[];
}

interface StackedBarsProps {
  /** What it shows, for those who cannot see it. */
  label: string;
  /** Below the bars, one each. */
  names: string[];
  series: BarSeries[];
  /** A line across, such as what may be spent. */
  limit: number | null;
  words(value: number): string;
  onPoint?(index: number | null): void;
}

const height = 220;

export function StackedBars(props: StackedBarsProps) {
  const place = useRef<HTMLDivElement>(null);
  const theme = useThemeRevision();
  const { label, names, series, limit, words, onPoint } = props;

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read anew with the theme
  useEffect(() => {
    const box = place.current;
    if (!box) return undefined;
    const data = stacked(names, series, limit);
    const chart = new uPlot(optionsOf(box.clientWidth, props), data, box);
    const resized = new ResizeObserver(() => chart.setSize({ width: box.clientWidth, height }));
    resized.observe(box);
    return () => {
      resized.disconnect();
      chart.destroy();
    };
  }, [names, series, limit, words, onPoint, theme]);

  return <div ref={place} role="img" aria-label={label} className="h-[220px] w-full" />;
}

/** Each on top of those before it; the highest is drawn first, and the others over it. */
function stacked(names: string[], series: BarSeries[], limit: number | null): uPlot.AlignedData {
  const sums = names.map(() => 0);
  const tops = series.map(({ values }) =>
    values.map((value, at) => {
      sums[at] = (sums[at] ?? 0) + value;
      return sums[at];
    }),
  );
  const xs = names.map((_, at) => at);
  return [xs, ...tops.reverse(), ...(limit === null ? [] : [names.map(() => limit)])];
}

function optionsOf(width: number, props: StackedBarsProps): uPlot.Options {
  const { names, series, limit, words, onPoint } = props;
  const [muted, line, warn] = ["--muted", "--line", "--warn"].map(canvasColour);
  const axis = { stroke: muted, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const bars = uPlot.paths.bars?.({ size: [0.7, 40] });
  return {
    width,
    height,
    padding: [12, 24, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: [-0.5, names.length - 0.5] },
      y: { range: [0, heightOf(series, limit)] },
    },
    axes: [
      {
        ...axis,
        font,
        grid: { show: false },
        size: 26,
        splits: () => spread(names.length, width),
        values: (_, at) => at.map((index) => names[index] ?? ""),
      },
      { ...axis, font, size: 64, values: (_, at) => at.map(words) },
    ],
    series: [
      {},
      ...series.toReversed().map(({ colour }) => ({
        fill: canvasColour(colour.name),
        width: 0,
        paths: bars,
        points: { show: false },
      })),
      ...(limit === null
        ? []
        : [{ stroke: warn, width: 1.5, dash: [6, 4], points: { show: false } }]),
    ],
    hooks: { setCursor: [({ cursor }) => onPoint?.(cursor.idx ?? null)] },
  };
}

/** A limit that is far away is left out of the picture: nothing could be seen below it. */
function heightOf(series: BarSeries[], limit: number | null): number {
  const sums = series.reduce<number[]>(
    (below, { values }) => values.map((value, at) => value + (below[at] ?? 0)),
    [],
  );
  const top = Math.max(0, ...sums);
  const shown = limit !== null && (top === 0 || limit <= top * farAway) ? limit : 0;
  return Math.max(top, shown) * 1.08 || 1;
}

const farAway = 4;

/** As many names as there is room for, the last one always among them. */
function spread(count: number, width: number): number[] {
  const every = Math.max(1, Math.ceil(count / Math.max(1, Math.floor((width - 64) / 70))));
  const all = Array.from({ length: count }, (_, at) => at);
  return all.filter((at) => (count - 1 - at) % every === 0);
}
