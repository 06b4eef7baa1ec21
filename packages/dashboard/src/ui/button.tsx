import { Button as BaseButton } from "@base-ui/react/button";
import type { ComponentProps } from "react";
import { classNames } from "./class-names.ts";

const styleByVariant = {
  plain: "border border-line-strong bg-surface text-text hover:bg-hover",
  main: "border border-transparent bg-accent text-on-accent hover:bg-accent-hover",
  bad: "border border-bad bg-surface text-bad hover:bg-bad-soft",
  quiet: "border border-transparent text-muted hover:bg-hover hover:text-text",
};

interface ButtonProps extends Omit<ComponentProps<"button">, "ref"> {
  variant?: keyof typeof styleByVariant;
  size?: "small" | "usual";
  /** Disables the button and explains why in the tooltip. */
  disabledReason?: string;
}

export function Button({
  variant = "plain",
  size = "usual",
  disabledReason,
  ...rest
}: ButtonProps) {
  const { className, disabled, title, ...others } = rest;
  return (
    <BaseButton
      type="button"
      {...others}
      title={disabledReason ?? title}
      aria-description={disabledReason}
      disabled={disabled || disabledReason !== undefined}
      focusableWhenDisabled={disabledReason !== undefined}
      className={classNames(
        "inline-flex items-center justify-center gap-1.5 rounded font-medium whitespace-nowrap select-none",
        "data-disabled:cursor-not-allowed data-disabled:opacity-50",
        size === "small" ? "h-6 px-2 text-sm" : "h-8 px-3",
        styleByVariant[variant],
        className,
      )}
    />
  );
}
