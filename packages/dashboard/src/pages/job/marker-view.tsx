import type { ReactNode } from "react";
import type { Marker, MarkerEntry } from "../../job/entry.ts";
import { classNames } from "../../ui/class-names.ts";
import { durationWords } from "../../ui/quantities.ts";
import type { Tone } from "../../ui/tone.ts";

const signs: Record<Marker, string> = {
  started: "●",
  retry: "↻",
  limit: "⏸",
  denied: "⊘",
  compacted: "≡",
  task: "✓",
  lost: "✕",
  note: "·",
};

export function MarkerView({ entry }: { entry: MarkerEntry }) {
  const tone = entry.isError ? "bad" : entry.marker === "retry" ? "warn" : "idle";
  return (
    <MarkerLine sign={signs[entry.marker]} tone={tone}>
      {entry.text}
      {entry.lastsMs !== null && `, again in ${durationWords(entry.lastsMs / 1000)}`}
    </MarkerLine>
  );
}

const colours: Partial<Record<Tone, string>> = {
  bad: "text-bad",
  warn: "text-warn",
  wait: "text-wait",
};

interface MarkerLineProps {
  sign: string;
  tone: Tone;
  children: ReactNode;
}

export function MarkerLine({ sign, tone, children }: MarkerLineProps) {
  return (
    <p className={classNames("flex gap-2 text-sm", colours[tone] ?? "text-muted")}>
      <span aria-hidden className="w-3 shrink-0 text-center">
        {sign}
      </span>
      <span className="min-w-0 wrap-anywhere">{children}</span>
    </p>
  );
}
