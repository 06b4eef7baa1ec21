import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { canvasColour, useThemeRevision } from "./canvas-colours.ts";
import type { SeriesColour } from "./series-colours.ts";

export interface BarSeries {
  name: string;
  colour: SeriesColour;
  values: number[];
}

interface StackedBarChartProps {
  /** Accessible name. */
  label: string;
  /** One label per bar. */
  names: string[];
  series: BarSeries[];
  /** A horizontal line, such as a daily budget. */
  limit: number | null;
  /** All labels of the vertical axis together, so that they can differ. */
  formatAxis(values: readonly number[]): string[];
  onHover?(index: number | null): void;
}

const heightPx = 220;

export function StackedBarChart(props: StackedBarChartProps) {
  const container = useRef<HTMLDivElement>(null);
  const theme = useThemeRevision();
  const { label, names, series, limit, formatAxis, onHover } = props;

  // biome-ignore lint/correctness/useExhaustiveDependencies: theme changes the colours
  useEffect(() => {
    const box = container.current;
    if (!box) return undefined;
    const data = stackSeries(names, series, limit);
    const chart = new uPlot(createChartOptions(box.clientWidth, props), data, box);
    const resizeObserver = new ResizeObserver(() =>
      chart.setSize({ width: box.clientWidth, height: heightPx }),
    );
    resizeObserver.observe(box);
    return () => {
      resizeObserver.disconnect();
      chart.destroy();
    };
  }, [names, series, limit, formatAxis, onHover, theme]);

  return <div ref={container} role="img" aria-label={label} className="h-[220px] w-full" />;
}

/** Stacks the series. The highest is drawn first, so that the lower ones cover it. */
function stackSeries(
  names: string[],
  series: BarSeries[],
  limit: number | null,
): uPlot.AlignedData {
  const sums = names.map(() => 0);
  const tops = series.map(({ values }) =>
    values.map((value, index) => {
      sums[index] = (sums[index] ?? 0) + value;
      return sums[index];
    }),
  );
  const xs = names.map((_, index) => index);
  return [xs, ...tops.reverse(), ...(limit === null ? [] : [names.map(() => limit)])];
}

function createChartOptions(width: number, props: StackedBarChartProps): uPlot.Options {
  const { names, series, limit, formatAxis, onHover } = props;
  const [muted, line, warn] = ["--muted", "--line", "--warn"].map(canvasColour);
  const axis = { stroke: muted, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const bars = uPlot.paths.bars?.({ size: [0.7, 40] });
  return {
    width,
    height: heightPx,
    padding: [12, 24, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: [-0.5, names.length - 0.5] },
      y: { range: [0, computeMaxValue(series, limit)] },
    },
    axes: [
      {
        ...axis,
        font,
        grid: { show: false },
        size: 26,
        splits: () => pickLabelIndexes(names.length, width),
        values: (_, indexes) => indexes.map((index) => names[index] ?? ""),
      },
      { ...axis, font, size: 64, values: (_, values) => formatAxis(values) },
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
    hooks: { setCursor: [({ cursor }) => onHover?.(cursor.idx ?? null)] },
  };
}

/** A limit far above all bars is not drawn, because the bars would become too small to see. */
function computeMaxValue(series: BarSeries[], limit: number | null): number {
  const sums = series.reduce<number[]>(
    (below, { values }) => values.map((value, index) => value + (below[index] ?? 0)),
    [],
  );
  const top = Math.max(0, ...sums);
  const shown = limit !== null && (top === 0 || limit <= top * maxLimitRatio) ? limit : 0;
  return Math.max(top, shown) * 1.08 || 1;
}

const maxLimitRatio = 4;

/** The indexes of as many labels as fit; the last label is always shown. */
function pickLabelIndexes(count: number, width: number): number[] {
  const step = Math.max(1, Math.ceil(count / Math.max(1, Math.floor((width - 64) / 70))));
  const indexes = Array.from({ length: count }, (_, index) => index);
  return indexes.filter((index) => (count - 1 - index) % step === 0);
}
