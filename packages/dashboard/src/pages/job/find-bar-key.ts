import type { Transcript } from "../../transcript/transcript.ts";

/** The waterfall bar of an entry, or of the turn it belongs to. */
export function findBarKey(
  { tools, turns }: Transcript,
  key: string | undefined,
): string | undefined {
  if (key === undefined || tools.has(key)) return key;
  return turns.find(({ entryKey }) => entryKey === key)?.key ?? key;
}
