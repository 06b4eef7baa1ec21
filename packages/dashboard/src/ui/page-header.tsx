import type { ReactNode } from "react";

interface PageHeaderProps {
  title: ReactNode;
  /** Small text below the title, such as a description. */
  note?: ReactNode;
  actions?: ReactNode;
}

export function PageHeader({ title, note, actions }: PageHeaderProps) {
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
