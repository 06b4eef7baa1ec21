import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, memo, useLayoutEffect, useMemo, useRef } from "react";
import type { Row } from "../../transcript/conversation-rows.ts";
import { classNames } from "../../ui/class-names.ts";
import { RowView } from "./row-view.tsx";
import { firstVisibleRowKey, type ScrollTarget, useScrollToRow } from "./scroll-to-row.ts";
import { splitIntoBlocks } from "./split-into-blocks.ts";

interface ConversationProps {
  rows: Row[];
  target: ScrollTarget | undefined;
  foundKeys: ReadonlySet<string>;
  /** More rows may arrive: keep the view at the end if it is there. */
  isLive: boolean;
  onVisibleRow(key: string): void;
}

const bottomThresholdPx = 48;
const estimatedBlockHeightPx = 1_000;
const estimateHeight = () => estimatedBlockHeightPx;

/**
 * Renders only the visible part. It virtualizes blocks of rows instead of rows, because each measured
 * height makes the virtualizer recompute all later positions, and there may be 50,000 rows.
 */
export function Conversation({ rows, target, foundKeys, isLive, onVisibleRow }: ConversationProps) {
  const scrollContainer = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(isLive && target === undefined);
  const blocks = useMemo(() => splitIntoBlocks(rows), [rows]);
  const list = useVirtualizer({
    count: blocks.length,
    getScrollElement: () => scrollContainer.current,
    estimateSize: estimateHeight,
    overscan: 1,
  });
  useScrollToRow({ list, scrollContainer, blocks, target, isAtEnd });

  const height = list.getTotalSize();
  // Stay at the end while rows arrive or heights are measured, unless the user has scrolled up.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the height changes
  useLayoutEffect(() => {
    const { current } = scrollContainer;
    if (!current || !isAtEnd.current) return;
    if (isLive || current.scrollTop > 0) current.scrollTop = current.scrollHeight;
  }, [height, isLive]);

  const onScroll = () => {
    const { current } = scrollContainer;
    if (!current) return;
    isAtEnd.current =
      current.scrollHeight - current.scrollTop - current.clientHeight < bottomThresholdPx;
    const key = firstVisibleRowKey(current);
    if (key !== undefined) onVisibleRow(key);
  };

  /** The browser's own smooth scrolling stops when heights change on the way. */
  const scrollToEnd = (event: KeyboardEvent) => {
    if (event.key !== "End" || event.target !== scrollContainer.current || !scrollContainer.current)
      return;
    event.preventDefault();
    isAtEnd.current = true;
    scrollContainer.current.scrollTop = scrollContainer.current.scrollHeight;
  };

  return (
    <div
      ref={scrollContainer}
      onScroll={onScroll}
      onKeyDown={scrollToEnd}
      role="log"
      aria-label="Conversation"
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas need keyboard focus
      tabIndex={0}
      className="relative h-full overflow-y-auto overscroll-contain [overflow-anchor:none]"
    >
      <div className="relative w-full" style={{ height }}>
        {list.getVirtualItems().map(({ index, start }) => (
          <div
            key={blocks[index]?.[0]?.key ?? index}
            ref={list.measureElement}
            data-index={index}
            className="absolute inset-x-0 top-0"
            style={{ transform: `translateY(${start}px)` }}
          >
            {blocks[index]?.map((row) => (
              <ConversationLine
                key={row.key}
                row={row}
                revision={revisionOf(row)}
                isFound={foundKeys.has(row.key)}
                isTarget={target?.key === row.key}
              />
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

function revisionOf(row: Row): number {
  if (row.kind !== "entry") return 0;
  return row.entry.revision + (row.startsTurn ? (row.entry.turn?.revision ?? 0) : 0);
}

interface ConversationLineProps {
  row: Row;
  /** Entries are mutated in place: a new revision makes the memoized line render again. */
  revision: number;
  isFound: boolean;
  isTarget: boolean;
}

const ConversationLine = memo(function ConversationLine({
  row,
  isFound,
  isTarget,
}: ConversationLineProps) {
  return (
    <div
      data-key={row.key}
      className={classNames(
        "border-l-2 border-transparent px-3 py-1",
        isFound && "border-l-warn bg-warn-soft",
        isTarget && "border-l-focus bg-hover",
      )}
      style={row.depth === 0 ? undefined : { marginLeft: row.depth * 20 }}
    >
      <RowView row={row} />
    </div>
  );
});
