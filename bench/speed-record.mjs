import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";

export const recordFile = resolve(import.meta.dirname, "../docs/proof/speed.json");

export function readRecord(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

/**
 * Replaces the rows of the measurements that ran and keeps the others, in the order of
 * `measurements`. Rows from a different kind of machine are dropped.
 */
export function updateRecord(file, { machine, rows }, measurements) {
  const before = readRecord(file);
  const isSameMachine = isDeepStrictEqual(before?.machine, machine);
  const replaced = new Set(rows.map(({ measurement }) => measurement));
  const kept = isSameMachine ? before.rows.filter((row) => !replaced.has(row.measurement)) : [];
  const position = ({ measurement }) => measurements.indexOf(measurement);
  const all = [...kept, ...rows]
    .filter((row) => position(row) >= 0)
    .sort((a, b) => position(a) - position(b));
  writeFileSync(file, `${JSON.stringify({ machine, rows: all }, null, 2)}\n`);
}
