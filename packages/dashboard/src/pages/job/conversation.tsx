import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { memo, type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import type { Row } from "../../job/conversation.ts";
import { classNames } from "../../ui/class-names.ts";
import { RowView } from "./row-view.tsx";

interface ConversationProps {
  rows: Row[];
  /** The entry to be shown, and how often that was asked for. */
  target: { key: string; count: number } | undefined;
  found: ReadonlySet<string>;
  /** More may come: whoever is at the end stays there. */
  isLive: boolean;
  onSee(key: string): void;
}

const nearEnd = 48;

export function Conversation({ rows, target, found, isLive, onSee }: ConversationProps) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(isLive);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    getItemKey: (index) => rows[index]?.key ?? index,
    estimateSize: (index) => heightOf(rows[index]),
    overscan: 6,
  });
  useShown(list, rows, target, isAtEnd);
  useEnd(list, box, isAtEnd, isLive);

  const look = () => {
    const { current } = box;
    if (!current) return;
    isAtEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < nearEnd;
    const first = list.getVirtualItemForOffset(current.scrollTop + nearEnd);
    const row = first && rows[first.index];
    if (row) onSee(row.key);
  };

  return (
    <div
      ref={box}
      onScroll={look}
      role="log"
      aria-label="Conversation"
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className="relative h-full overflow-y-auto overscroll-contain [overflow-anchor:none]"
    >
      <div className="relative w-full" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ key, index, start }) => {
          const row = rows[index];
          if (!row) return null;
          return (
            <div
              key={key}
              ref={list.measureElement}
              data-index={index}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start}px)` }}
            >
              <Line
                row={row}
                revision={row.kind === "entry" ? row.entry.revision : 0}
                isFound={found.has(row.key)}
                isTarget={target?.key === row.key}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
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
}, isSame);

/** A row is made anew with every entry that is added, and says the same. */
function isSame(before: LineProps, after: LineProps): boolean {
  const [one, other] = [before.row, after.row];
  const sameRow =
    one.kind === "entry" && other.kind === "entry"
      ? one.entry === other.entry && one.depth === other.depth
      : one === other;
  return (
    sameRow &&
    before.revision === after.revision &&
    before.isFound === after.isFound &&
    before.isTarget === after.isTarget
  );
}

function heightOf(row: Row | undefined): number {
  if (row?.kind !== "entry") return 80;
  if (row.entry.kind === "marker" || row.entry.kind === "thinking") return 28;
  return row.entry.kind === "tool" ? 64 : 56;
}

type List = Virtualizer<HTMLDivElement, Element>;

function useShown(
  list: List,
  rows: Row[],
  target: ConversationProps["target"],
  isAtEnd: RefObject<boolean>,
): void {
  const done = useRef(0);
  useEffect(() => {
    if (!target || target.count === done.current) return;
    const index = rows.findIndex(({ key }) => key === target.key);
    if (index === -1) return;
    done.current = target.count;
    isAtEnd.current = false;
    list.scrollToIndex(index, { align: "start" });
  }, [list, rows, target, isAtEnd]);
}

/** Who reads the end sees what is added; who reads further up is left alone. */
function useEnd(
  list: List,
  box: RefObject<HTMLDivElement | null>,
  isAtEnd: RefObject<boolean>,
  isLive: boolean,
): void {
  const height = list.getTotalSize();
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the height
  useLayoutEffect(() => {
    const { current } = box;
    if (current && isLive && isAtEnd.current) current.scrollTop = current.scrollHeight;
  }, [height, isLive, box, isAtEnd]);
}
