export const hourSpans = [1, 6, 24] as const;
type Span = (typeof hourSpans)[number];

export const stateFilters = ["running", "waiting", "paused", "failed"] as const;
export type StateFilter = (typeof stateFilters)[number];

export interface FleetSearch {
  /** Part of an agent's name or description. */
  q?: string;
  show?: StateFilter;
  /** Hours shown on the timelines. Default: 6. */
  hours?: Span;
}

/** Parses the URL's search parameters and drops unknown values. */
export function parseFleetSearch({ q, show, hours }: Record<string, unknown>): FleetSearch {
  return {
    q: typeof q === "string" && q !== "" ? q : undefined,
    show: stateFilters.find((filter) => filter === show),
    hours: hourSpans.find((span) => span === hours),
  };
}
