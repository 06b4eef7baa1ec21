// `npm run bench [-- NAME …] [--quick] [--json FILE]`: figures, each beside the bare thing in the same
// run and beside its bound. What is measured replaces what docs/proof/speed.json knew of it.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writePages } from "../scripts/write-pages.mjs";
import { benches } from "./benches.mjs";
import { judged } from "./judge.mjs";
import { circumstances, machine } from "./machine.mjs";
import { isQuick } from "./measure.mjs";
import { speedPages } from "./pages.mjs";
import { printHead, printRow, printTitle } from "./print-table.mjs";
import { merged, readRecord, recordFile, writeRecord } from "./record.mjs";

const { values, positionals } = parseArgs({
  options: { quick: { type: "boolean" }, json: { type: "string" } },
  allowPositionals: true,
});
const known = Object.values(benches).flatMap((group) => Object.keys(group));
const unknown = positionals.find((name) => !known.includes(name));
if (unknown) {
  process.stderr.write(`no bench ${unknown}; there are ${known.join(", ")}\n`);
  process.exit(2);
}

const file = values.json ?? (isQuick ? join(tmpdir(), "herdctl-bench-quick.json") : recordFile);
const here = machine();
// Once: after that the machine is busy with what is measured.
const when = circumstances();
const began = Date.now();
printHead();
for (const [group, members] of Object.entries(benches)) {
  const wanted = Object.entries(members).filter(([name]) => isWanted(name));
  if (wanted.length > 0) printTitle(group);
  for (const [bench, measure] of wanted) keep(await measured(group, bench, measure));
}
const minutes = ((Date.now() - began) / 60_000).toFixed(1);
process.stdout.write(`\n${minutes} minutes; written to ${file}\n`);
if (file === recordFile) writePages(speedPages(readRecord(file)));

/** At once: what was measured stays measured, whatever becomes of the rest. */
function keep(rows) {
  if (rows.some(({ held }) => held === false)) process.exitCode = 1;
  writeRecord(file, merged(readRecord(file), { machine: here, rows }, known));
}

function isWanted(name) {
  return positionals.length === 0 || positionals.includes(name);
}

/** One that cannot be measured is told, and does not keep the others from it. */
async function measured(group, bench, measure) {
  try {
    const found = [await measure()].flat().map(judged);
    for (const row of found) printRow(row);
    return found.map((row) => ({ group, bench, ...row, ...when, ...(isQuick && { quick: true }) }));
  } catch (error) {
    process.stderr.write(`${bench} failed: ${error.stack}\n`);
    process.exitCode = 1;
    return [];
  }
}
