export type ChatSearch = Record<string, never>;

/** What the address may say; anything else is left out. */
export function parseChatSearch(_: Record<string, unknown>): ChatSearch {
  return {};
}
