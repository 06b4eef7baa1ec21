import { type ReactNode, useId } from "react";

interface LabelledProps {
  label: string;
  /** Given the id that its label points at. */
  children(id: string): ReactNode;
}

export function Labelled({ label, children }: LabelledProps) {
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
