export type ActivitySearch = Record<string, never>;

/** What the address may say; anything else is left out. */
export function parseActivitySearch(_: Record<string, unknown>): ActivitySearch {
  return {};
}
