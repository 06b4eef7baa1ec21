import type { Row } from "../../transcript/conversation-rows.ts";

const blockSize = 16;

/** Splits rows into blocks of fixed size. */
export function splitIntoBlocks(rows: readonly Row[]): Row[][] {
  const blocks: Row[][] = [];
  for (let start = 0; start < rows.length; start += blockSize)
    blocks.push(rows.slice(start, start + blockSize));
  return blocks;
}
