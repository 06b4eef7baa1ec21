import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { canvasColour, useThemeRevision } from "../../ui/canvas-colours.ts";

interface TrendProps {
  /** What it shows, for those who cannot see it. */
  label: string;
  /** Seconds. */
  times: number[];
  values: number[];
  colour: string;
  words(value: number): string;
}

const height = 160;

/** One value of each run over time: a point each, and how it goes. */
export function Trend({ label, times, values, colour, words }: TrendProps) {
  const place = useRef<HTMLDivElement>(null);
  const theme = useThemeRevision();

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read anew with the theme
  useEffect(() => {
    const box = place.current;
    if (!box) return undefined;
    const options = optionsOf(box.clientWidth, canvasColour(colour), words);
    const chart = new uPlot(options, [times, values], box);
    const resized = new ResizeObserver(() => chart.setSize({ width: box.clientWidth, height }));
    resized.observe(box);
    return () => {
      resized.disconnect();
      chart.destroy();
    };
  }, [times, values, colour, words, theme]);

  return <div ref={place} role="img" aria-label={label} className="h-40 w-full" />;
}

function optionsOf(width: number, stroke: string, words: TrendProps["words"]): uPlot.Options {
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const axis = {
    stroke: canvasColour("--muted"),
    grid: { stroke: canvasColour("--line"), width: 1 },
    ticks: { show: false },
    font,
  };
  return {
    width,
    height,
    padding: [8, 16, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { y: { range: (_, __, top) => [0, top * 1.1 || 1] } },
    axes: [
      { ...axis, size: 38, space: 70 },
      { ...axis, size: 72, space: 32, values: (_, at) => at.map(words) },
    ],
    series: [{}, { stroke, width: 1.25, points: { show: true, size: 4, fill: stroke } }],
  };
}
