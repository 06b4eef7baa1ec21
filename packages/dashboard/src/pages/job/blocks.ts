import type { Row } from "../../job/conversation.ts";

const size = 16;

/** Rows in their order, so many at a time. */
export function blocksOf(rows: readonly Row[]): Row[][] {
  const blocks: Row[][] = [];
  for (let at = 0; at < rows.length; at += size) blocks.push(rows.slice(at, at + size));
  return blocks;
}
