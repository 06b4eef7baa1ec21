import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef, useState } from "react";
import { readLines } from "../../transcript/follow-output.ts";
import type { OutputLine } from "../../transcript/line-splitter.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";

/** Events per request. Only visible pages are requested. */
const pageSize = 100;

interface RawEventsProps {
  jobId: string;
  /** The offset of each line in the log. */
  offsets: readonly number[];
  count: number;
}

/** The raw messages, one per line. They are fetched from the log again instead of kept in memory. */
export function RawEvents({ jobId, offsets, count }: RawEventsProps) {
  const scrollContainer = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<number>();
  const list = useVirtualizer({
    count,
    getScrollElement: () => scrollContainer.current,
    estimateSize: estimateHeight,
    overscan: 10,
  });
  if (count === 0) return <EmptyState title="No events yet" />;
  return (
    <div className="flex h-full flex-col gap-3">
      <div
        ref={scrollContainer}
        role="log"
        aria-label="Raw events"
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas need keyboard focus
        tabIndex={0}
        className="min-h-0 flex-1 overflow-auto rounded border border-line bg-surface"
      >
        <div className="relative w-full" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map(({ index, start }) => (
            <div
              key={index}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start}px)` }}
            >
              <RawEvent
                {...{ jobId, offsets, index }}
                isChosen={chosen === index}
                onChoose={() => setChosen(chosen === index ? undefined : index)}
              />
            </div>
          ))}
        </div>
      </div>
      {chosen !== undefined && <EventDetails {...{ jobId, offsets }} index={chosen} />}
    </div>
  );
}

const estimateHeight = () => 24;

interface RawEventProps {
  jobId: string;
  offsets: readonly number[];
  index: number;
  isChosen: boolean;
  onChoose(): void;
}

function RawEvent({ jobId, offsets, index, isChosen, onChoose }: RawEventProps) {
  const line = useEvent(jobId, offsets, index);
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      onClick={onChoose}
      className="flex h-6 w-full items-center gap-2 px-2 text-left font-mono text-sm whitespace-nowrap hover:bg-hover aria-pressed:bg-hover"
    >
      <span className="w-12 shrink-0 text-right text-muted">{index + 1}</span>
      <span className="w-44 shrink-0 truncate">{line && eventKind(line)}</span>
      <span className="truncate text-muted">
        {line ? JSON.stringify(line.message).slice(0, 300) : "…"}
      </span>
    </button>
  );
}

function EventDetails(props: Pick<RawEventProps, "jobId" | "offsets" | "index">) {
  const line = useEvent(props.jobId, props.offsets, props.index);
  if (!line) return null;
  const text = JSON.stringify(line.message, null, 2).slice(0, maxChars);
  return (
    <div className="max-h-1/2 overflow-auto">
      <CodeBlock label={`Event ${props.index + 1}`} text={text} />
    </div>
  );
}

const maxChars = 500_000;

function useEvent(
  jobId: string,
  offsets: readonly number[],
  index: number,
): OutputLine | undefined {
  const page = Math.floor(index / pageSize);
  const from = offsets[page * pageSize] ?? 0;
  // The last page may still grow.
  const lineCount = Math.min(pageSize, offsets.length - page * pageSize);
  const { data } = useQuery({
    queryKey: ["raw", jobId, from, lineCount],
    queryFn: ({ signal }) => readLines(jobId, from, lineCount, signal),
    gcTime: 30_000,
  });
  return data?.[index % pageSize];
}

function eventKind({ message }: OutputLine): string {
  const { type, subtype } = message;
  return subtype === undefined ? String(type) : `${type} ${subtype}`;
}
