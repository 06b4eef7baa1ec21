import type { ComponentProps, ReactNode } from "react";
import { classNames } from "./class-names.ts";

/** A plain table that scrolls sideways by itself when there is no room. */
export function Table({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section aria-label={label} tabIndex={0} className="overflow-x-auto">
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
