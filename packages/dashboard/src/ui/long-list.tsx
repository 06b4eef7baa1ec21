import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";

interface LongListProps<T> {
  label: string;
  items: T[];
  keyOf(item: T): string;
  /** About how high a line is, in pixels. */
  lineHeight: number;
  children(item: T): ReactNode;
  hasMore: boolean;
  onMore(): void;
}

const ahead = 10;

/** A list of any length: only what can be seen is there, and more is asked for near its end. */
export function LongList<T>(props: LongListProps<T>) {
  const { label, items, keyOf, lineHeight, children, hasMore, onMore } = props;
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), []);
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => lineHeight,
    getItemKey: (index) => keyOfIndex(items, index, keyOf),
    overscan: ahead,
    scrollMargin: top,
  });
  const shown = rows.getVirtualItems();
  const isNearEnd = (shown.at(-1)?.index ?? 0) >= items.length - ahead;
  useEffect(() => {
    if (isNearEnd && hasMore) onMore();
  }, [isNearEnd, hasMore, onMore]);
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
