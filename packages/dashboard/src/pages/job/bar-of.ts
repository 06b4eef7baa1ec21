import type { Story } from "../../job/story.ts";

/** The bar of the waterfall for an entry: its own, else that of the turn in which it was said. */
export function barOf(story: Story, key: string | undefined): string | undefined {
  if (key === undefined || story.tools.has(key)) return key;
  return story.turns.find(({ entryKey }) => entryKey === key)?.key ?? key;
}
