import { Button } from "../../ui/button.tsx";

interface StepperProps {
  /** The noun in singular and plural, such as `error` and `errors`. */
  singular: string;
  plural: string;
  count: number;
  /** The current index; -1 if none is selected. */
  index: number;
  onStep(index: number): void;
}

/** Buttons to step through matches, wrapping around at the ends. */
export function Stepper({ singular, plural, count, index, onStep }: StepperProps) {
  if (count === 0) return null;
  const step = (delta: number) => onStep((index + delta + count) % count);
  return (
    <span className="flex items-center gap-0.5 text-sm whitespace-nowrap">
      <Button
        size="small"
        variant="quiet"
        aria-label={`Previous ${singular}`}
        onClick={() => step(index < 0 ? 0 : -1)}
      >
        ↑
      </Button>
      <span className="text-muted">
        {index >= 0 ? `${index + 1} of ${count}` : count} {count === 1 ? singular : plural}
      </span>
      <Button size="small" variant="quiet" aria-label={`Next ${singular}`} onClick={() => step(1)}>
        ↓
      </Button>
    </span>
  );
}
