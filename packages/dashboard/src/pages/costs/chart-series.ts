import type { ResponseOfRoute } from "../../api/call-fleet.ts";
import { formatCountOf } from "../../ui/format-quantities.ts";
import { restColour, type SeriesColour, seriesColours } from "../../ui/series-colours.ts";
import type { BarSeries } from "../../ui/stacked-bars.tsx";

type CostView = ResponseOfRoute<"costs">;
export type CostLine = CostView["rows"][number];

export function lineLabel({ agent, schedule, model }: CostLine, by: string): string {
  if (by === "model") return model ?? "Unknown model";
  if (by === "schedule") return `${agent} · ${schedule ?? "No schedule"}`;
  return agent ?? "";
}

/** One series for each of the most expensive lines, and one for the sum of all others. */
export function toChartSeries({ rows: lines, days }: CostView, by: string): BarSeries[] {
  const topSeries = lines.slice(0, seriesColours.length).map((line, index) => ({
    name: lineLabel(line, by),
    colour: colourAt(index),
    values: line.usd_by_day,
  }));
  const others = lines.slice(seriesColours.length);
  if (others.length === 0) return topSeries;
  const values = days.map((_, day) =>
    others.reduce((sum, line) => sum + (line.usd_by_day[day] ?? 0), 0),
  );
  return [
    ...topSeries,
    { name: formatCountOf(others.length, "other"), colour: restColour, values },
  ];
}

export function colourAt(index: number): SeriesColour {
  return seriesColours[index] ?? restColour;
}
