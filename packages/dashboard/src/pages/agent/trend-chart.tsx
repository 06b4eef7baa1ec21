import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { canvasColour, useThemeRevision } from "../../ui/canvas-colours.ts";
import { timeFormats } from "../../ui/time-formats.ts";

interface TrendChartProps {
  /** Accessible name. */
  label: string;
  /** Unix times in seconds. */
  times: number[];
  values: number[];
  colour: string;
  formatAxis(values: readonly number[]): string[];
}

const heightPx = 160;

/** A line chart with one point per run. */
export function TrendChart({ label, times, values, colour, formatAxis }: TrendChartProps) {
  const container = useRef<HTMLDivElement>(null);
  const theme = useThemeRevision();

  // biome-ignore lint/correctness/useExhaustiveDependencies: theme changes the colours
  useEffect(() => {
    const box = container.current;
    if (!box) return undefined;
    const options = createChartOptions(box.clientWidth, canvasColour(colour), formatAxis);
    const chart = new uPlot(options, [times, values], box);
    const resizeObserver = new ResizeObserver(() =>
      chart.setSize({ width: box.clientWidth, height: heightPx }),
    );
    resizeObserver.observe(box);
    return () => {
      resizeObserver.disconnect();
      chart.destroy();
    };
  }, [times, values, colour, formatAxis, theme]);

  return <div ref={container} role="img" aria-label={label} className="h-40 w-full" />;
}

function createChartOptions(
  width: number,
  stroke: string,
  formatAxis: TrendChartProps["formatAxis"],
): uPlot.Options {
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const axis = {
    stroke: canvasColour("--muted"),
    grid: { stroke: canvasColour("--line"), width: 1 },
    ticks: { show: false },
    font,
  };
  return {
    width,
    height: heightPx,
    padding: [8, 40, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { y: { range: (_, __, top) => [0, top * 1.1 || 1] } },
    axes: [
      { ...axis, size: 26, space: 70, values: (_, times) => formatAxisTimes(times) },
      { ...axis, size: 72, space: 32, values: (_, values) => formatAxis(values) },
    ],
    series: [{}, { stroke, width: 1.25, points: { show: true, size: 4, fill: stroke } }],
  };
}

const daySeconds = 24 * 3_600;

/** Days where a tick is a day or more, else times with the day at its first tick. */
function formatAxisTimes(times: number[]): string[] {
  const stepSeconds = (times[1] ?? 0) - (times[0] ?? 0);
  return times.map((seconds, index) => {
    const day = timeFormats.day.format(seconds * 1_000);
    if (stepSeconds >= daySeconds) return day;
    const previous = times[index - 1];
    const isSameDay = previous !== undefined && timeFormats.day.format(previous * 1_000) === day;
    return (isSameDay ? timeFormats.minute : timeFormats.dayAndMinute).format(seconds * 1_000);
  });
}
