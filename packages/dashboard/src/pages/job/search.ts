export type JobSearch = Record<string, never>;

/** What the address may say; anything else is left out. */
export function parseJobSearch(_: Record<string, unknown>): JobSearch {
  return {};
}
