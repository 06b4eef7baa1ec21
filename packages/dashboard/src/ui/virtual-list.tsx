import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";

interface VirtualListProps<T> {
  label: string;
  items: T[];
  keyOf(item: T): string;
  /** Estimated line height in pixels. */
  lineHeightPx: number;
  children(item: T): ReactNode;
  hasMore: boolean;
  onLoadMore(): void;
}

const overscanLines = 10;

/** A list of any length: renders only the visible lines and loads more near the end. */
export function VirtualList<T>(props: VirtualListProps<T>) {
  const { label, items, keyOf, lineHeightPx, children, hasMore, onLoadMore } = props;
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), []);
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => lineHeightPx,
    getItemKey: (index) => keyOfIndex(items, index, keyOf),
    overscan: overscanLines,
    scrollMargin: top,
  });
  const shown = rows.getVirtualItems();
  const isNearEnd = (shown.at(-1)?.index ?? 0) >= items.length - overscanLines;
  useEffect(() => {
    if (isNearEnd && hasMore) onLoadMore();
  }, [isNearEnd, hasMore, onLoadMore]);
  return (
    <ul ref={list} aria-label={label} className="relative" style={{ height: rows.getTotalSize() }}>
      {shown.map(({ index, key, start }) => {
        const item = items[index];
        return (
          <li
            key={key}
            ref={rows.measureElement}
            data-index={index}
            className="absolute inset-x-0 top-0 border-b border-line last:border-b-0"
            style={{ transform: `translateY(${start - top}px)` }}
          >
            {item !== undefined && children(item)}
          </li>
        );
      })}
    </ul>
  );
}

function keyOfIndex<T>(items: T[], index: number, keyOf: (item: T) => string): string {
  const item = items[index];
  return item === undefined ? String(index) : keyOf(item);
}
