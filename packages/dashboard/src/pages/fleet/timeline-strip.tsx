import type { TimelineEntry } from "@herdctl/server/contract";
import { useNavigate } from "@tanstack/react-router";
import { type MouseEvent, memo, useState } from "react";
import { toneFill } from "../../ui/tone-fill.ts";
import { hourTicks, summarizeMarks, type TimelineMark, toMarks } from "./timeline-marks.ts";
import { TimelineTooltip } from "./timeline-tooltip.tsx";

interface TimelineStripProps {
  agent: string;
  jobs: readonly TimelineEntry[];
  start: number;
  end: number;
  isCompact: boolean;
}

/**
 * The runs of an agent over time, with a tooltip and a link for each. Keyboard users find the same
 * jobs on the agent page and the activity page.
 */
export const TimelineStrip = memo(function TimelineStrip({
  agent,
  jobs,
  start,
  end,
  isCompact,
}: TimelineStripProps) {
  const navigate = useNavigate();
  const [hovered, setHovered] = useState<HoveredMark>();
  const marks = toMarks(jobs, start, end);
  const openJob = ({ target }: MouseEvent) => {
    const mark = markAt(target, marks);
    if (mark) void navigate({ to: "/jobs/$jobId", params: { jobId: mark.job.id } });
  };
  const updateHover = ({ target, clientX, clientY }: MouseEvent) => {
    const mark = markAt(target, marks);
    setHovered(mark && { mark, x: clientX, y: clientY });
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the same links exist elsewhere, see above
    <div
      role="img"
      aria-label={`${agent}: ${summarizeMarks(marks)}`}
      data-strip={agent}
      onClick={openJob}
      onMouseMove={updateHover}
      onMouseLeave={() => setHovered(undefined)}
      className={`relative h-7 w-full overflow-hidden rounded-sm bg-sunken ${isCompact ? "lg:h-5" : ""}`}
    >
      {hourTicks(start, end).map((tick) => (
        <i
          key={tick}
          className="absolute inset-y-0 w-px bg-line"
          style={{ left: toPercent((tick - start) / (end - start)) }}
        />
      ))}
      {marks.map(({ job, from, to, tone }) => (
        <i
          key={job.id}
          data-job={job.id}
          className={`absolute inset-y-1 min-w-1 cursor-pointer rounded-[1px] hover:inset-y-0 ${toneFill[tone]}`}
          style={{ left: `min(${toPercent(from)}, 100% - 4px)`, width: toPercent(to - from) }}
        />
      ))}
      {hovered && <TimelineTooltip {...hovered} />}
    </div>
  );
});

interface HoveredMark {
  mark: TimelineMark;
  x: number;
  y: number;
}

function markAt(target: EventTarget, marks: TimelineMark[]): TimelineMark | undefined {
  const id = target instanceof HTMLElement ? target.dataset.job : undefined;
  return id === undefined ? undefined : marks.find(({ job }) => job.id === id);
}

function toPercent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}
