interface ShareProps {
  /** Of what, for those who cannot see it. */
  label: string;
  /** Of 1. */
  value: number;
  isFull?: boolean;
}

export function Share({ label, value, isFull = false }: ShareProps) {
  const percent = Math.round(value * 100);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a meter of the browser's own has its colours
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      title={`${percent} %`}
      className="h-1.5 w-full overflow-hidden rounded-full bg-idle-soft"
    >
      <div
        className={`h-full rounded-full ${isFull ? "bg-bad" : "bg-accent"}`}
        style={{ width: `${Math.max(value > 0 ? 1 : 0, percent)}%` }}
      />
    </div>
  );
}
