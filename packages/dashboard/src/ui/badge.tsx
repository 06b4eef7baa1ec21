import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";
import type { Tone } from "./tone.ts";

const tones: Record<Tone, string> = {
  ok: "bg-ok-soft text-ok",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  live: "bg-live-soft text-live",
  wait: "bg-wait-soft text-wait",
  idle: "bg-idle-soft text-idle",
};

interface BadgeProps {
  tone?: Tone;
  title?: string;
  children: ReactNode;
}

export function Badge({ tone = "idle", title, children }: BadgeProps) {
  return (
    <span
      title={title}
      className={classNames(
        "inline-flex h-5 items-center gap-1 rounded-sm px-1.5 text-sm font-medium whitespace-nowrap",
        tones[tone],
      )}
    >
      {children}
    </span>
  );
}
