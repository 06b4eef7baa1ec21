import type { OutcomeCode } from "../state/outcome.ts";

/** How an overloaded API holds back the whole fleet. */
export interface SlowDown {
  delay: number;
  until: Date;
}

const shortest = 5_000;
const longest = 5 * 60_000;

/**
 * What the end of a run says about the next ones. Runs that were under way when the pause began say
 * nothing new: only one that failed after it makes the next pause twice as long.
 */
export function slowDown(
  previous: SlowDown | undefined,
  outcome: OutcomeCode,
  now: Date,
): SlowDown | undefined {
  if (outcome === "success" || outcome === "finished_with_denials") return undefined;
  if (outcome !== "overloaded" || (previous && now < previous.until)) return previous;
  const delay =
    previous && !isStale(previous, now) ? Math.min(longest, previous.delay * 2) : shortest;
  return { delay, until: new Date(now.getTime() + delay) };
}

/** A pause that has been over for as long as pauses get belongs to an earlier overload. */
function isStale({ until }: SlowDown, now: Date): boolean {
  return now.getTime() - until.getTime() > longest;
}
