import type { ReactNode } from "react";

interface PageHeadProps {
  title: ReactNode;
  /** What stands below it in small: a description, an origin. */
  note?: ReactNode;
  actions?: ReactNode;
}

export function PageHead({ title, note, actions }: PageHeadProps) {
  return (
    <header className="mb-4">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <h1 className="min-w-0 truncate text-lg font-semibold">{title}</h1>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {note && <div className="text-sm text-muted">{note}</div>}
    </header>
  );
}
