import { createPortal } from "react-dom";
import { Badge } from "../../ui/badge.tsx";
import { jobLabel } from "../../ui/outcome-tone.ts";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Duration, Money, Time } from "../../ui/time.tsx";
import { timeFormats } from "../../ui/time-formats.ts";
import type { TimelineMark } from "./timeline-marks.ts";

const widthPx = 240;

/** A tooltip next to the pointer. */
export function TimelineTooltip({ mark, x, y }: { mark: TimelineMark; x: number; y: number }) {
  const { job, tone } = mark;
  const left = Math.max(8, Math.min(x + 12, window.innerWidth - widthPx - 8));
  return createPortal(
    <div
      role="tooltip"
      className="pointer-events-none fixed z-50 flex flex-col gap-1 rounded border border-line-strong bg-surface p-2 shadow-popup"
      style={{ left, top: y + 16, width: widthPx }}
    >
      <div className="flex items-center justify-between gap-2">
        <Badge tone={tone}>{jobLabel(job)}</Badge>
        <span className="text-sm text-muted">{job.schedule ?? sentenceCase(job.trigger_type)}</span>
      </div>
      <div className="flex justify-between gap-2 text-sm">
        <Time at={job.started_at ?? job.created_at} style={timeFormats.second} />
        <Duration seconds={job.duration_seconds} />
        <Money usd={job.cost_usd} />
      </div>
      <div className="truncate font-mono text-xs text-muted">{job.id}</div>
    </div>,
    document.body,
  );
}
