import type { ComponentProps, ReactNode } from "react";
import { classNames } from "./class-names.ts";

/** A table that scrolls horizontally when it does not fit. */
export function Table({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas need keyboard focus
    <section aria-label={label} tabIndex={0} className="relative overflow-x-auto">
      <table className="w-full border-collapse text-left">
        <caption className="sr-only">{label}</caption>
        {children}
      </table>
    </section>
  );
}

export function Th({ className, ...rest }: ComponentProps<"th">) {
  return (
    <th
      scope="col"
      {...rest}
      className={classNames(
        "border-b border-line px-3 py-1.5 text-sm font-medium whitespace-nowrap text-muted",
        className,
      )}
    />
  );
}

export function Td({ className, ...rest }: ComponentProps<"td">) {
  return <td {...rest} className={classNames("border-b border-line px-3 py-1.5", className)} />;
}
