import type { TimeBreakdown, TimeCategory } from "../../transcript/time-breakdown.ts";
import { classNames } from "../../ui/class-names.ts";
import { formatDuration } from "../../ui/format-quantities.ts";

const categories: { share: TimeCategory; label: string; colour: string }[] = [
  { share: "api", label: "API", colour: "bg-series-2" },
  { share: "tool", label: "Tools", colour: "bg-series-1" },
  { share: "wait", label: "Waiting", colour: "bg-wait" },
  { share: "retry", label: "Retries", colour: "bg-warn" },
  { share: "start", label: "Startup", colour: "bg-idle" },
  { share: "queue", label: "Queue", colour: "bg-line-strong" },
  { share: "other", label: "Other", colour: "bg-idle-soft" },
];

/** How the job's time is divided, as one bar with a legend. */
export function TimeBreakdownBar({ breakdown }: { breakdown: TimeBreakdown }) {
  const totalMs = Object.values(breakdown).reduce((sum, ms) => sum + ms);
  const shown = categories.filter(({ share }) => breakdown[share] >= 1);
  if (totalMs <= 0) return null;
  return (
    <div className="text-sm">
      <div aria-hidden className="flex h-1.5 overflow-hidden rounded-full bg-idle-soft">
        {shown.map(({ share, colour }) => (
          <span
            key={share}
            className={colour}
            style={{ width: `${(breakdown[share] / totalMs) * 100}%` }}
          />
        ))}
      </div>
      <ul
        aria-label="Time breakdown"
        className="mt-1 flex flex-wrap content-start gap-x-3 text-muted max-md:min-h-10"
      >
        {shown.map(({ share, label, colour }) => (
          <li key={share} className="flex items-center gap-1">
            <span
              aria-hidden
              className={classNames("size-2 rounded-sm border border-line", colour)}
            />
            {label} {formatDuration(breakdown[share] / 1000)}
          </li>
        ))}
      </ul>
    </div>
  );
}
