import type { Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useRef } from "react";
import type { Row } from "../../job/conversation.ts";

/** The entry to be shown, and how often that was asked for. */
export interface Target {
  key: string;
  count: number;
}

interface Shown {
  list: Virtualizer<HTMLDivElement, Element>;
  box: RefObject<HTMLDivElement | null>;
  blocks: Row[][];
  target: Target | undefined;
  isAtEnd: RefObject<boolean>;
}

/** Heights become known while one scrolls: it is looked again until the row stays in its place. */
const frames = 20;

/** Brings a row to the top, once for each time that it is asked for. */
export function useShown({ list, box, blocks, target, isAtEnd }: Shown): void {
  const done = useRef(0);
  useEffect(() => {
    if (!target || target.count === done.current) return;
    const block = blocks.findIndex((rows) => rows.some(({ key }) => key === target.key));
    if (block === -1) return;
    done.current = target.count;
    isAtEnd.current = false;
    list.scrollToIndex(block, { align: "start" });
    settle(box, target.key, frames);
  }, [list, box, blocks, target, isAtEnd]);
}

function settle(box: Shown["box"], key: string, left: number): void {
  if (left === 0) return;
  requestAnimationFrame(() => {
    box.current?.querySelector(`[data-key="${CSS.escape(key)}"]`)?.scrollIntoView();
    settle(box, key, left - 1);
  });
}

/** The row at the top of what is seen. */
export function firstSeen(box: HTMLElement): string | undefined {
  const { top } = box.getBoundingClientRect();
  for (const row of box.querySelectorAll<HTMLElement>("[data-key]"))
    if (row.getBoundingClientRect().bottom > top + 8) return row.dataset.key;
  return undefined;
}
