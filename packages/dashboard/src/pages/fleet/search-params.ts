export const hourSpans = [1, 6, 24] as const;
type Span = (typeof hourSpans)[number];

export const stateFilters = ["running", "waiting", "queued", "paused", "failed"] as const;
export type StateFilter = (typeof stateFilters)[number];

export const sortKeys = ["name", "state", "last", "next", "cost"] as const;
export type SortKey = (typeof sortKeys)[number];

export const groupKeys = ["fleet", "label"] as const;
export type GroupKey = (typeof groupKeys)[number];

export interface FleetSearch {
  /** Part of an agent's name, description or labels. */
  q?: string;
  show?: StateFilter;
  /** Hours shown on the timelines. Default: 6. */
  hours?: Span;
  /** Default: the order of the configuration. */
  sort?: SortKey;
  group?: GroupKey;
}

/** Parses the URL's search parameters and drops unknown values. */
export function parseFleetSearch({
  q,
  show,
  hours,
  sort,
  group,
}: Record<string, unknown>): FleetSearch {
  return {
    q: typeof q === "string" && q !== "" ? q : undefined,
    show: stateFilters.find((filter) => filter === show),
    hours: hourSpans.find((span) => span === hours),
    sort: sortKeys.find((key) => key === sort),
    group: groupKeys.find((key) => key === group),
  };
}
