/** Smaller steps are those that time servers take; what is settled stays so, and nothing is lost. */
const smallStep = 60_000;
/** A clock that is off by more has not been set yet, as on a board without a battery. */
const unbelievable = 366 * 86_400_000;

/**
 * Whether the clock has been set back since a plan was settled. Then what was put down as missed
 * while the clock was ahead is to be judged again.
 */
export function wasSetBack(through: number, now: number): boolean {
  const ahead = through - now;
  return ahead > smallStep && ahead < unbelievable;
}
