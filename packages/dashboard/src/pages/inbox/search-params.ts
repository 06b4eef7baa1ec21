export type InboxSearch = Record<string, never>;

/** The inbox has no search parameters. */
export function parseInboxSearch(_: Record<string, unknown>): InboxSearch {
  return {};
}
