import { createPortal } from "react-dom";
import { Badge } from "../../ui/badge.tsx";
import { wordOf } from "../../ui/outcome.ts";
import { Duration, Money, Time } from "../../ui/time.tsx";
import type { Mark } from "./strip-marks.ts";

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const width = 240;

/** Beside the pointer; on nothing it covers anything needed, as it goes when the pointer goes. */
export function StripTip({ mark, x, y }: { mark: Mark; x: number; y: number }) {
  const { job, tone } = mark;
  const left = Math.max(8, Math.min(x + 12, window.innerWidth - width - 8));
  return createPortal(
    <div
      role="tooltip"
      className="pointer-events-none fixed z-50 flex flex-col gap-1 rounded border border-line-strong bg-surface p-2 shadow-popup"
      style={{ left, top: y + 16, width }}
    >
      <div className="flex items-center justify-between gap-2">
        <Badge tone={tone}>{wordOf(job)}</Badge>
        <span className="text-sm text-muted">
          {job.schedule ?? job.trigger_type.replace("_", " ")}
        </span>
      </div>
      <div className="flex justify-between gap-2 text-sm">
        <Time at={job.started_at ?? job.created_at} style={clock} />
        <Duration seconds={job.duration_seconds} />
        <Money usd={job.cost_usd} />
      </div>
      <div className="truncate font-mono text-xs text-muted">{job.id}</div>
    </div>,
    document.body,
  );
}
