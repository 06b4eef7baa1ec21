import type { OutcomeCode } from "../state/outcome.ts";

/** How an overloaded API holds back the whole fleet. */
export interface SlowDown {
  delay: number;
  until: Date;
}

/** What the end of a run says about the next ones. */
export function slowDown(
  previous: SlowDown | undefined,
  _outcome: OutcomeCode,
  _now: Date,
): SlowDown | undefined {
  return previous;
}
