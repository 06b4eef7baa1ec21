interface MeterProps {
  /** Accessible name. */
  label: string;
  /** From 0 to 1. */
  value: number;
  isFull?: boolean;
}

export function Meter({ label, value, isFull = false }: MeterProps) {
  const percent = Math.round(value * 100);
  return (
    // biome-ignore lint/a11y/useSemanticElements: native meters cannot be styled
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      title={`${percent}%`}
      className="h-1.5 w-full overflow-hidden rounded-full bg-idle-soft"
    >
      <div
        className={`h-full rounded-full ${isFull ? "bg-bad" : "bg-accent"}`}
        style={{ width: `${Math.max(value > 0 ? 1 : 0, percent)}%` }}
      />
    </div>
  );
}
