import { amount, times, verdictOf } from "./show.mjs";

const widths = [44, 12, 12, 30, 12, 8, 22, 8];

export function printHead() {
  print(["", "median", "p95", "  beside", "median", "ratio", "bound", ""]);
}

export function printTitle(title) {
  process.stdout.write(`\n${title}\n`);
}

export function printRow(row) {
  const { what, unit, value, p95, beside, ratio, bound = "" } = row;
  print([
    what,
    amount(value, unit),
    amount(p95, unit),
    beside ? `  ${beside.what}` : "",
    amount(beside?.value, unit),
    times(ratio),
    bound,
    verdictOf(row),
  ]);
}

function print(cells) {
  const isText = (index) => index === 0 || index === 3;
  const padded = cells.map((cell, index) =>
    isText(index) ? cell.padEnd(widths[index]) : cell.padStart(widths[index]),
  );
  process.stdout.write(`${padded.join("").trimEnd()}\n`);
}
