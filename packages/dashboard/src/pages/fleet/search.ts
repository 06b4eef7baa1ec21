export const spans = [1, 6, 24] as const;
type Span = (typeof spans)[number];

export const shows = ["running", "waiting", "paused", "failed"] as const;
export type Show = (typeof shows)[number];

export interface FleetSearch {
  /** Part of the name of an agent. */
  q?: string;
  show?: Show;
  /** How many hours the strip goes back; six when nothing is said. */
  hours?: Span;
}

/** What the address may say; anything else is left out. */
export function parseFleetSearch({ q, show, hours }: Record<string, unknown>): FleetSearch {
  return {
    q: typeof q === "string" && q !== "" ? q : undefined,
    show: shows.find((one) => one === show),
    hours: spans.find((one) => one === hours),
  };
}
