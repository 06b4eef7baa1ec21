export interface AxisTick {
  at: number;
  /** Position on the axis, from 0 to 1. */
  share: number;
}

const stepsMs = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3,
  900e3, 1.8e6, 3.6e6, 7.2e6, 14.4e6, 43.2e6, 86.4e6,
];

/** Up to `maxTicks` round times between `from` and `to`, in milliseconds. */
export function computeTicks(from: number, to: number, maxTicks = 4): AxisTick[] {
  const rangeMs = to - from;
  if (rangeMs <= 0) return [{ at: 0, share: 0 }];
  const step = stepsMs.find((candidate) => rangeMs / candidate <= maxTicks) ?? rangeMs / maxTicks;
  const first = Math.ceil(from / step) * step;
  const count = Math.floor((to - first) / step) + 1;
  return Array.from({ length: count }, (_, index) => first + index * step)
    .map((at) => ({ at, share: (at - from) / rangeMs }))
    .filter(({ share }) => share < 0.94);
}
