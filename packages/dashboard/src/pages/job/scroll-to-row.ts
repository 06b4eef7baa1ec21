import type { Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useRef } from "react";
import type { Row } from "../../transcript/conversation-rows.ts";

/** The entry to scroll to. `count` increases with each request. */
export interface ScrollTarget {
  key: string;
  count: number;
}

interface ScrollOptions {
  list: Virtualizer<HTMLDivElement, Element>;
  scrollContainer: RefObject<HTMLDivElement | null>;
  blocks: Row[][];
  target: ScrollTarget | undefined;
  isAtEnd: RefObject<boolean>;
}

/** Heights are measured while scrolling, so the row is scrolled into view again for this many frames. */
const maxFrames = 20;

/** Scrolls a row to the top, once per request. */
export function useScrollToRow({
  list,
  scrollContainer,
  blocks,
  target,
  isAtEnd,
}: ScrollOptions): void {
  const handledCount = useRef(0);
  useEffect(() => {
    if (!target || target.count === handledCount.current) return;
    const block = blocks.findIndex((rows) => rows.some(({ key }) => key === target.key));
    if (block === -1) return;
    handledCount.current = target.count;
    isAtEnd.current = false;
    list.scrollToIndex(block, { align: "start" });
    scrollUntilSettled(scrollContainer, target.key, maxFrames);
  }, [list, scrollContainer, blocks, target, isAtEnd]);
}

function scrollUntilSettled(
  scrollContainer: ScrollOptions["scrollContainer"],
  key: string,
  framesLeft: number,
): void {
  if (framesLeft === 0) return;
  requestAnimationFrame(() => {
    scrollContainer.current?.querySelector(`[data-key="${CSS.escape(key)}"]`)?.scrollIntoView();
    scrollUntilSettled(scrollContainer, key, framesLeft - 1);
  });
}

/** The first visible row. */
export function firstVisibleRowKey(scrollContainer: HTMLElement): string | undefined {
  const { top } = scrollContainer.getBoundingClientRect();
  for (const row of scrollContainer.querySelectorAll<HTMLElement>("[data-key]"))
    if (row.getBoundingClientRect().bottom > top + 8) return row.dataset.key;
  return undefined;
}
