import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef, useState } from "react";
import { readSome } from "../../job/follow-output.ts";
import type { OutputLine } from "../../job/lines.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Empty } from "../../ui/empty.tsx";

/** Read together; only pages that are looked at are read. */
const pageSize = 100;

interface RawEventsProps {
  jobId: string;
  /** Where each line begins. */
  offsets: readonly number[];
  count: number;
}

/** The messages as they came, one a line. They are read again from the log, not kept. */
export function RawEvents({ jobId, offsets, count }: RawEventsProps) {
  const box = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<number>();
  const list = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => 24,
    overscan: 10,
  });
  if (count === 0) return <Empty title="No event yet" />;
  return (
    <div
      ref={box}
      role="log"
      aria-label="Raw events"
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className="h-full overflow-auto rounded border border-line bg-surface"
    >
      <div className="relative w-full" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ key, index, start }) => (
          <div
            key={key}
            ref={list.measureElement}
            data-index={index}
            className="absolute inset-x-0 top-0"
            style={{ transform: `translateY(${start}px)` }}
          >
            <RawEvent
              {...{ jobId, offsets, index }}
              isOpen={opened === index}
              onToggle={() => setOpened(opened === index ? undefined : index)}
            />
          </div>
        ))}
      </div>
    </div>
  );
}

interface RawEventProps {
  jobId: string;
  offsets: readonly number[];
  index: number;
  isOpen: boolean;
  onToggle(): void;
}

function RawEvent({ jobId, offsets, index, isOpen, onToggle }: RawEventProps) {
  const page = Math.floor(index / pageSize);
  const from = offsets[page * pageSize] ?? 0;
  // The last page may still grow.
  const held = Math.min(pageSize, offsets.length - page * pageSize);
  const { data } = useQuery({
    queryKey: ["raw", jobId, from, held],
    queryFn: ({ signal }) => readSome(jobId, from, held, signal),
    gcTime: 30_000,
  });
  const line = data?.[index % pageSize];
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={onToggle}
        className="flex h-6 w-full items-center gap-2 px-2 text-left font-mono text-sm whitespace-nowrap hover:bg-hover"
      >
        <span className="w-12 shrink-0 text-right text-muted">{index + 1}</span>
        <span className="w-44 shrink-0 truncate">{line && kindOf(line)}</span>
        <span className="truncate text-muted">
          {line ? JSON.stringify(line.message).slice(0, 300) : "…"}
        </span>
      </button>
      {isOpen && line && (
        <div className="px-2 pb-2">
          <CodeBlock label={`Event ${index + 1}`} text={JSON.stringify(line.message, null, 2)} />
        </div>
      )}
    </>
  );
}

function kindOf({ message }: OutputLine): string {
  const { type, subtype } = message;
  return subtype === undefined ? String(type) : `${type} ${subtype}`;
}
