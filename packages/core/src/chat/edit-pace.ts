/** How long to wait before a post may be edited again. */
export function waitBeforeEdit(
  now: number,
  { lastEdit, gap, edits }: { lastEdit: number; gap: number; edits: number },
): number {
  // A long answer is looked at less often, and platforms count edits over minutes too.
  const pace = gap * Math.min(1 + edits / 20, 4);
  return Math.max(0, lastEdit + pace - now);
}
