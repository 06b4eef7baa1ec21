import type { Look } from "./look.ts";
import { cut, padEnd, widthOf } from "./width.ts";

export interface Column<Row> {
  title: string;
  text: (row: Row) => string;
  align?: "right";
  paint?: (row: Row) => (text: string) => string;
  /** Left out where the screen is too narrow for all. */
  spare?: true;
}

const gap = 2;
const leastForLast = 14;

/** Columns as wide as they need to be; the last one gets what is left of the screen. */
export function tableLines<Row>(columns: Column<Row>[], rows: Row[], look: Look): string[] {
  const cells = columns.map((column) => measured(column, rows));
  const last = cells.at(-1);
  const wanted = Math.min(leastForLast, last?.width ?? 0);
  while (roomForLast(cells, look) < wanted) {
    const spare = cells.findIndex(({ column }) => column.spare);
    if (spare === -1) break;
    cells.splice(spare, 1);
  }
  if (last) last.width = Math.min(last.width, Math.max(roomForLast(cells, look), 1));
  const line = (text: (cell: Cells<Row>) => string) =>
    cells.map(text).join(" ".repeat(gap)).trimEnd();
  return [
    look.colors.dim(line((cell) => fitted(cell.column.title, cell))),
    ...rows.map((row, at) =>
      line((cell) => {
        const text = fitted(cell.texts[at] ?? "", cell);
        return cell.column.paint ? cell.column.paint(row)(text) : text;
      }),
    ),
  ];
}

interface Cells<Row> {
  column: Column<Row>;
  texts: string[];
  width: number;
}

function measured<Row>(column: Column<Row>, rows: Row[]): Cells<Row> {
  const texts = rows.map((row) => column.text(row));
  return { column, texts, width: Math.max(...[column.title, ...texts].map(widthOf)) };
}

function roomForLast<Row>(cells: Cells<Row>[], { width = Infinity }: Look): number {
  return cells.slice(0, -1).reduce((room, cell) => room - cell.width - gap, width);
}

function fitted<Row>(text: string, { column, width }: Cells<Row>): string {
  const short = cut(text, width);
  return column.align === "right" ? short.padStart(width) : padEnd(short, width);
}
