import type { Answer } from "../../api/ask.ts";
import { restColour, type SeriesColour, seriesColours } from "../../ui/series.ts";
import type { BarSeries } from "../../ui/stacked-bars.tsx";

type CostView = Answer<"costs">;
export type CostLine = CostView["lines"][number];

export function nameOf({ agent, schedule, model }: CostLine, by: string): string {
  if (by === "model") return model ?? "not told";
  if (by === "schedule") return `${agent} · ${schedule ?? "no schedule"}`;
  return agent ?? "";
}

/** The dearest have a colour of their own; the rest of them is one. */
export function chartSeries({ lines, days }: CostView, by: string): BarSeries[] {
  const own = lines.slice(0, seriesColours.length).map((line, at) => ({
    name: nameOf(line, by),
    colour: colourOf(at),
    values: line.usd_by_day,
  }));
  const others = lines.slice(seriesColours.length);
  if (others.length === 0) return own;
  const values = days.map((_, day) =>
    others.reduce((sum, line) => sum + (line.usd_by_day[day] ?? 0), 0),
  );
  return [...own, { name: `${others.length} others`, colour: restColour, values }];
}

export function colourOf(place: number): SeriesColour {
  return seriesColours[place] ?? restColour;
}
