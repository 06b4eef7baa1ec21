export type FleetSearch = Record<string, never>;

/** What the address may say; anything else is left out. */
export function parseFleetSearch(_: Record<string, unknown>): FleetSearch {
  return {};
}
