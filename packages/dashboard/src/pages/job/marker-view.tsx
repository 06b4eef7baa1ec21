import type { ReactNode } from "react";
import type { Marker, MarkerEntry } from "../../transcript/entry.ts";
import { classNames } from "../../ui/class-names.ts";
import { formatDuration } from "../../ui/format-quantities.ts";
import type { Tone } from "../../ui/tone.ts";

const symbolByKind: Record<Marker, string> = {
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
    <MarkerLine symbol={symbolByKind[entry.marker]} tone={tone}>
      {entry.text}
      {entry.retryDelayMs !== null && `, retrying in ${formatDuration(entry.retryDelayMs / 1000)}`}
    </MarkerLine>
  );
}

const colourByTone: Partial<Record<Tone, string>> = {
  bad: "text-bad",
  warn: "text-warn",
  wait: "text-wait",
};

interface MarkerLineProps {
  symbol: string;
  tone: Tone;
  children: ReactNode;
}

export function MarkerLine({ symbol, tone, children }: MarkerLineProps) {
  return (
    <p className={classNames("flex gap-2 text-sm", colourByTone[tone] ?? "text-muted")}>
      <span aria-hidden className="w-3 shrink-0 text-center">
        {symbol}
      </span>
      <span className="min-w-0 wrap-anywhere">{children}</span>
    </p>
  );
}
