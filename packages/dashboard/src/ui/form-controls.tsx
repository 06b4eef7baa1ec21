import type { ComponentProps } from "react";
import { classNames } from "./class-names.ts";

const controlClass =
  "rounded border border-line-strong bg-surface px-2 text-text placeholder:text-muted disabled:opacity-60";

export function TextInput({ className, ...rest }: ComponentProps<"input">) {
  return <input {...rest} className={classNames(controlClass, "h-8", className)} />;
}

export function TextArea({ className, ...rest }: ComponentProps<"textarea">) {
  return (
    <textarea {...rest} className={classNames(controlClass, "min-h-20 w-full py-1.5", className)} />
  );
}

/** The native select: it works best on phones. */
export function Select({ className, ...rest }: ComponentProps<"select">) {
  return <select {...rest} className={classNames(controlClass, "h-8 pr-6", className)} />;
}
