export type InboxSearch = Record<string, never>;

/** What the address may say; anything else is left out. */
export function parseInboxSearch(_: Record<string, unknown>): InboxSearch {
  return {};
}
