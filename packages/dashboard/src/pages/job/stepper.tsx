import { Button } from "../../ui/button.tsx";

interface StepperProps {
  /** What there is: one of it, and many. */
  one: string;
  many: string;
  count: number;
  /** Which one is shown; -1 while none is. */
  at: number;
  onStep(at: number): void;
}

/** Goes from one place to the next, and around. */
export function Stepper({ one, many, count, at, onStep }: StepperProps) {
  if (count === 0) return null;
  const step = (by: number) => onStep((at + by + count) % count);
  return (
    <span className="flex items-center gap-0.5 text-sm whitespace-nowrap">
      <Button
        size="small"
        look="quiet"
        aria-label={`Previous ${one}`}
        onClick={() => step(at < 0 ? 0 : -1)}
      >
        ↑
      </Button>
      <span className="text-muted">
        {at >= 0 ? `${at + 1} of ${count}` : count} {count === 1 ? one : many}
      </span>
      <Button size="small" look="quiet" aria-label={`Next ${one}`} onClick={() => step(1)}>
        ↓
      </Button>
    </span>
  );
}
