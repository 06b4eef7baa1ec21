import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, memo, useLayoutEffect, useMemo, useRef } from "react";
import type { Row } from "../../job/conversation.ts";
import { classNames } from "../../ui/class-names.ts";
import { blocksOf } from "./blocks.ts";
import { RowView } from "./row-view.tsx";
import { firstSeen, type Target, useShown } from "./scroll-to-row.ts";

interface ConversationProps {
  rows: Row[];
  target: Target | undefined;
  found: ReadonlySet<string>;
  /** More may come: whoever is at the end stays there. */
  isLive: boolean;
  onSee(key: string): void;
}

const nearEnd = 48;
const usualHeight = 1_000;
const estimate = () => usualHeight;

/**
 * Only what is near is on the page. It is kept by blocks of rows, not by rows: with each height
 * that becomes known all places after it are computed anew, and there may be fifty thousand rows.
 */
export function Conversation({ rows, target, found, isLive, onSee }: ConversationProps) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(isLive && target === undefined);
  const blocks = useMemo(() => blocksOf(rows), [rows]);
  const list = useVirtualizer({
    count: blocks.length,
    getScrollElement: () => box.current,
    estimateSize: estimate,
    overscan: 1,
  });
  useShown({ list, box, blocks, target, isAtEnd });

  const height = list.getTotalSize();
  // Who reads the end stays there while more comes, or heights become known; others are left alone.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the height
  useLayoutEffect(() => {
    const { current } = box;
    if (!current || !isAtEnd.current) return;
    if (isLive || current.scrollTop > 0) current.scrollTop = current.scrollHeight;
  }, [height, isLive]);

  const look = () => {
    const { current } = box;
    if (!current) return;
    isAtEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < nearEnd;
    const key = firstSeen(current);
    if (key !== undefined) onSee(key);
  };

  /** The browser's own way there is broken off when heights become known on it. */
  const toTheEnd = (event: KeyboardEvent) => {
    if (event.key !== "End" || event.target !== box.current || !box.current) return;
    event.preventDefault();
    isAtEnd.current = true;
    box.current.scrollTop = box.current.scrollHeight;
  };

  return (
    <div
      ref={box}
      onScroll={look}
      onKeyDown={toTheEnd}
      role="log"
      aria-label="Conversation"
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
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
              <Line
                key={row.key}
                row={row}
                revision={revisionOf(row)}
                isFound={found.has(row.key)}
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
  return row.entry.revision + (row.beginsTurn ? (row.entry.turn?.revision ?? 0) : 0);
}

interface LineProps {
  row: Row;
  /** Entries change in place: this says that one did. */
  revision: number;
  isFound: boolean;
  isTarget: boolean;
}

const Line = memo(function Line({ row, isFound, isTarget }: LineProps) {
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
