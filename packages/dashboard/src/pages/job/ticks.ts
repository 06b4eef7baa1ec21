export interface Tick {
  at: number;
  /** Where it stands, from 0 to 1. */
  share: number;
}

const steps = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3,
  900e3, 1.8e6, 3.6e6, 7.2e6, 14.4e6, 43.2e6, 86.4e6,
];

/** A few round times between two, in milliseconds. */
export function ticksOf(from: number, to: number, most = 4): Tick[] {
  const whole = to - from;
  if (whole <= 0) return [{ at: 0, share: 0 }];
  const step = steps.find((one) => whole / one <= most) ?? whole / most;
  const first = Math.ceil(from / step) * step;
  const count = Math.floor((to - first) / step) + 1;
  return Array.from({ length: count }, (_, index) => first + index * step)
    .map((at) => ({ at, share: (at - from) / whole }))
    .filter(({ share }) => share < 0.94);
}
