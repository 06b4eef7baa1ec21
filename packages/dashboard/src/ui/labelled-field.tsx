import { type ReactNode, useId } from "react";

interface LabelledFieldProps {
  label: string;
  /** Receives the id for the form control. */
  children(id: string): ReactNode;
}

export function LabelledField({ label, children }: LabelledFieldProps) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-sm text-muted">
        {label}
      </label>
      {children(id)}
    </div>
  );
}
