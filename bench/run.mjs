// `npm run bench [-- NAME …] [--quick] [--json FILE]`: takes the measurements, prints them with
// baseline and bound, and updates docs/proof/speed.json and its page.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writePages } from "../scripts/write-pages.mjs";
import { judge } from "./judge.mjs";
import { circumstances, machine } from "./machine.mjs";
import { isQuick } from "./measure.mjs";
import { measurements } from "./measurements.mjs";
import { printHead, printRow, speedPages } from "./report.mjs";
import { readRecord, recordFile, updateRecord } from "./speed-record.mjs";

const { values, positionals } = parseArgs({
  options: { quick: { type: "boolean" }, json: { type: "string" } },
  allowPositionals: true,
});
const names = Object.keys(measurements);
const unknown = positionals.find((name) => !names.includes(name));
if (unknown) {
  process.stderr.write(`Unknown measurement ${unknown}. Known: ${names.join(", ")}.\n`);
  process.exit(2);
}

const file = values.json ?? (isQuick ? join(tmpdir(), "herdctl-bench-quick.json") : recordFile);
const context = { ...circumstances(), ...(isQuick && { quick: true }) };
const startedAt = Date.now();
printHead();
for (const name of positionals.length > 0 ? positionals : names) {
  try {
    await runOne(name);
  } catch (error) {
    process.stderr.write(`${name} failed: ${error.stack}\n`);
    process.exitCode = 1;
  }
}
const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1);
process.stdout.write(`\n${minutes} minutes; written to ${file}\n`);
if (file === recordFile) writePages(speedPages(readRecord(file)));

/** Records each measurement as soon as it ends: a later failure does not lose it. */
async function runOne(name) {
  const rows = [await measurements[name]()].flat().map(judge);
  for (const row of rows) printRow(row);
  if (rows.some(({ held }) => !held)) process.exitCode = 1;
  const recorded = rows.map((row) => ({ measurement: name, ...row, ...context }));
  updateRecord(file, { machine: machine(), rows: recorded }, names);
}
