// `npm run bench [name …]`: figures, each beside the bare thing in the same run and beside its bound.
import { config } from "./config.mjs";
import { quantile } from "./measure.mjs";
import { startup } from "./startup.mjs";

const benches = { config, startup };
const titleWidth = 34;
const widths = [11, 11, 9, 20, 6];

const wanted = process.argv.slice(2);
const names = wanted.length > 0 ? wanted : Object.keys(benches);
const unknown = names.find((name) => !Object.hasOwn(benches, name));
if (unknown) {
  process.stderr.write(`no bench ${unknown}; there are ${Object.keys(benches).join(", ")}\n`);
  process.exit(2);
}

print(["", "median", "p95", "ratio", "bound", ""]);
for (const name of names) {
  const row = await benches[name]();
  const [median, bare] = [quantile(row.ours, 0.5), quantile(row.bare, 0.5)];
  const ratio = median / bare;
  const { within, bound } = judge(row.bound, median, ratio);
  print([
    row.what,
    ms(median),
    ms(quantile(row.ours, 0.95)),
    `${ratio.toFixed(2)}×`,
    bound,
    within,
  ]);
  print([`  ${row.bareThing}`, ms(bare), ms(quantile(row.bare, 0.95)), "1×", "", ""]);
  if (within === "over") process.exitCode = 1;
}

function judge(bound, median, ratio) {
  const holds = bound.ratio === undefined ? median < bound.milliseconds : ratio < bound.ratio;
  const text =
    bound.ratio === undefined ? `median < ${ms(bound.milliseconds)}` : `ratio < ${bound.ratio}×`;
  return { within: holds ? "ok" : "over", bound: text };
}

function ms(value) {
  return `${value.toFixed(0)} ms`;
}

function print(cells) {
  const [first, ...rest] = cells;
  const figures = rest.map((cell, index) => cell.padStart(widths[index]));
  process.stdout.write(`${first.padEnd(titleWidth)}${figures.join("")}\n`);
}
