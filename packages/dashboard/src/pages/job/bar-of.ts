import type { Story } from "../../job/story.ts";

/** The bar of the waterfall for an entry: its own, else that of the turn in which it was said. */
export function barOf({ tools, turns }: Story, key: string | undefined): string | undefined {
  if (key === undefined || tools.has(key)) return key;
  return turns.find(({ entryKey }) => entryKey === key)?.key ?? key;
}
