import type { Look } from "./look.ts";
import { cut, padEnd, widthOf } from "./width.ts";

export interface Column<Row> {
  title: string;
  text: (row: Row) => string;
  align?: "right";
  paint?: (row: Row) => (text: string) => string;
}

const gap = "  ";
const narrowest = 12;

/** Columns as wide as they need to be; the last one gets what is left of the screen. */
export function tableLines<Row>(columns: Column<Row>[], rows: Row[], look: Look): string[] {
  const cells = rows.map((row) => columns.map((column) => column.text(row)));
  const widths = columns.map(({ title }, index) =>
    Math.max(widthOf(title), ...cells.map((line) => widthOf(line[index] ?? ""))),
  );
  const last = columns.length - 1;
  const taken = widths.slice(0, last).reduce((sum, width) => sum + width + gap.length, 0);
  const room = look.width === undefined ? Infinity : Math.max(look.width - taken, narrowest);
  const fitted = (text: string, index: number): string => {
    if (index === last) return cut(text, room);
    const width = widths[index] ?? 0;
    return columns[index]?.align === "right" ? text.padStart(width) : padEnd(text, width);
  };
  const head = columns.map(({ title }, index) => fitted(title, index)).join(gap);
  const body = rows.map((row, at) =>
    columns
      .map(({ paint }, index) => {
        const text = fitted(cells[at]?.[index] ?? "", index);
        return paint ? paint(row)(text) : text;
      })
      .join(gap)
      .trimEnd(),
  );
  return [look.colors.dim(head.trimEnd()), ...body];
}
