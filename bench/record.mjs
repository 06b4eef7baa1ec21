import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";

export const recordFile = resolve(import.meta.dirname, "../docs/proof/speed.json");

/** What was measured last, of everything. */
export function readRecord(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

export function writeRecord(file, record) {
  writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`);
}

/**
 * Figures of another kind of machine, or of a bench that was run anew, are dropped; the order is that
 * of the names.
 */
export function merged(before, { machine, rows }, names) {
  const isSame = isDeepStrictEqual(before?.machine, machine);
  const anew = new Set(rows.map(({ bench }) => bench));
  const kept = (isSame ? before.rows : []).filter(({ bench }) => !anew.has(bench));
  const place = ({ bench }) => names.indexOf(bench);
  const all = [...kept, ...rows].filter((row) => place(row) >= 0);
  return { machine, rows: all.sort((a, b) => place(a) - place(b)) };
}
