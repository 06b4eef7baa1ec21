/** The colours of chart series, in order. */
export const seriesColours = [
  { name: "--series-1", dot: "bg-series-1" },
  { name: "--series-2", dot: "bg-series-2" },
  { name: "--series-3", dot: "bg-series-3" },
  { name: "--series-4", dot: "bg-series-4" },
  { name: "--series-5", dot: "bg-series-5" },
  { name: "--series-6", dot: "bg-series-6" },
] as const;

/** For the series that groups all others. */
export const restColour = { name: "--series-rest", dot: "bg-series-rest" } as const;

export type SeriesColour = (typeof seriesColours)[number] | typeof restColour;
