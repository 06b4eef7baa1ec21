import { type ReactNode, useId } from "react";
import { classNames } from "./class-names.ts";

interface PanelProps {
  title: ReactNode;
  aside?: ReactNode;
  /** Removes the padding, for content such as a table. */
  flush?: boolean;
  className?: string;
  children: ReactNode;
}

export function Panel({ title, aside, flush = false, className, children }: PanelProps) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className={classNames("rounded-lg border border-line bg-surface", className)}
    >
      <div className="flex min-h-10 flex-wrap items-center justify-between gap-x-3 gap-y-1 border-b border-line px-3 py-1.5">
        <h2 id={id} className="font-semibold">
          {title}
        </h2>
        {aside && <div className="text-sm text-muted">{aside}</div>}
      </div>
      <div className={flush ? "" : "p-3"}>{children}</div>
    </section>
  );
}
