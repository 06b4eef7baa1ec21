import type { TimelineEntry } from "@herdctl/server/contract";
import { useNavigate } from "@tanstack/react-router";
import { type MouseEvent, memo, useState } from "react";
import { toneFill } from "../../ui/tone-fill.ts";
import { type Mark, marksOf, summaryOf, ticksOf } from "./strip-marks.ts";
import { StripTip } from "./strip-tip.tsx";

interface StripProps {
  agent: string;
  jobs: readonly TimelineEntry[];
  start: number;
  end: number;
}

/**
 * What ran when, to point at and to click. For the keyboard the same jobs stand on the pages of the
 * agent and of all activity.
 */
export const Strip = memo(function Strip({ agent, jobs, start, end }: StripProps) {
  const navigate = useNavigate();
  const [pointed, setPointed] = useState<Pointed>();
  const marks = marksOf(jobs, start, end);
  const open = ({ target }: MouseEvent) => {
    const mark = markAt(target, marks);
    if (mark) void navigate({ to: "/jobs/$jobId", params: { jobId: mark.job.id } });
  };
  const point = ({ target, clientX, clientY }: MouseEvent) => {
    const mark = markAt(target, marks);
    setPointed(mark && { mark, x: clientX, y: clientY });
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: what it leads to stands elsewhere too, see above
    <div
      role="img"
      aria-label={`${agent}: ${summaryOf(marks)}`}
      data-strip={agent}
      onClick={open}
      onMouseMove={point}
      onMouseLeave={() => setPointed(undefined)}
      className="relative h-7 w-full overflow-hidden rounded-sm bg-sunken"
    >
      {ticksOf(start, end).map((tick) => (
        <i
          key={tick}
          className="absolute inset-y-0 w-px bg-line"
          style={{ left: percent((tick - start) / (end - start)) }}
        />
      ))}
      {marks.map(({ job, from, to, tone }) => (
        <i
          key={job.id}
          data-job={job.id}
          className={`absolute inset-y-1 min-w-1 cursor-pointer rounded-[1px] hover:inset-y-0 ${toneFill[tone]}`}
          style={{ left: `min(${percent(from)}, 100% - 4px)`, width: percent(to - from) }}
        />
      ))}
      {pointed && <StripTip {...pointed} />}
    </div>
  );
});

interface Pointed {
  mark: Mark;
  x: number;
  y: number;
}

function markAt(target: EventTarget, marks: Mark[]): Mark | undefined {
  const id = target instanceof HTMLElement ? target.dataset.job : undefined;
  return id === undefined ? undefined : marks.find(({ job }) => job.id === id);
}

function percent(part: number): string {
  return `${(part * 100).toFixed(3)}%`;
}
