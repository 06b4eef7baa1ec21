import type { TerminalStyle } from "./terminal-style.ts";
import { displayWidth, padEnd, truncate } from "./text-width.ts";

export interface Column<Row> {
  title: string;
  text: (row: Row) => string;
  align?: "right";
  color?: (row: Row) => (text: string) => string;
  /** Left out if the terminal is too narrow for all columns. */
  hideIfNarrow?: true;
}

const gapColumns = 2;
const minLastColumnWidth = 14;

/** Columns are as wide as their content; the last column gets the rest of the terminal. */
export function tableLines<Row>(
  columns: Column<Row>[],
  rows: Row[],
  style: TerminalStyle,
): string[] {
  const measuredColumns = columns.map((column) => measureColumn(column, rows));
  const last = measuredColumns.at(-1);
  const minWidth = Math.min(minLastColumnWidth, last?.width ?? 0);
  while (lastColumnRoom(measuredColumns, style) < minWidth) {
    const droppedIndex = measuredColumns.findIndex(({ column }) => column.hideIfNarrow);
    if (droppedIndex === -1) break;
    measuredColumns.splice(droppedIndex, 1);
  }
  if (last) last.width = Math.min(last.width, Math.max(lastColumnRoom(measuredColumns, style), 1));
  const line = (text: (cell: MeasuredColumn<Row>) => string) =>
    measuredColumns.map(text).join(" ".repeat(gapColumns)).trimEnd();
  return [
    style.colors.dim(line((cell) => fitCell(cell.column.title, cell))),
    ...rows.map((row, at) =>
      line((cell) => {
        const text = fitCell(cell.texts[at] ?? "", cell);
        return cell.column.color ? cell.column.color(row)(text) : text;
      }),
    ),
  ];
}

interface MeasuredColumn<Row> {
  column: Column<Row>;
  texts: string[];
  width: number;
}

function measureColumn<Row>(column: Column<Row>, rows: Row[]): MeasuredColumn<Row> {
  const texts = rows.map((row) => column.text(row));
  return { column, texts, width: Math.max(...[column.title, ...texts].map(displayWidth)) };
}

function lastColumnRoom<Row>(
  measuredColumns: MeasuredColumn<Row>[],
  { width = Infinity }: TerminalStyle,
): number {
  return measuredColumns.slice(0, -1).reduce((room, cell) => room - cell.width - gapColumns, width);
}

function fitCell<Row>(text: string, { column, width }: MeasuredColumn<Row>): string {
  const short = truncate(text, width);
  return column.align === "right" ? short.padStart(width) : padEnd(short, width);
}
