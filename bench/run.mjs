// `npm run bench [name …]`: figures, each beside the bare thing in the same run and beside its bound.
import { config } from "./config.mjs";
import { dockerCold, dockerWarm } from "./docker.mjs";
import { executor } from "./executor.mjs";
import { fleetCommand, fleetSocket } from "./fleet.mjs";
import { quantile } from "./measure.mjs";
import { memory } from "./memory.mjs";
import { startup } from "./startup.mjs";
import { trigger } from "./trigger.mjs";

const benches = {
  config,
  startup,
  executor,
  memory,
  trigger,
  fleetSocket,
  fleetCommand,
  dockerCold,
  dockerWarm,
};
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
  const amount = (value) => `${value.toFixed(0)} ${row.unit ?? "ms"}`;
  const { within, bound } = judge(row.bound, median, bare);
  print([
    row.what,
    amount(median),
    amount(quantile(row.ours, 0.95)),
    `${ratio.toFixed(2)}×`,
    bound,
    within,
  ]);
  print([`  ${row.bareThing}`, amount(bare), amount(quantile(row.bare, 0.95)), "1×", "", ""]);
  if (within === "over") process.exitCode = 1;
}

function judge(bound, median, bare) {
  if (bound === undefined) return { within: "", bound: "" };
  const [[kind, limit]] = Object.entries(bound);
  const { value, text } = {
    ratio: { value: median / bare, text: `ratio < ${limit}×` },
    milliseconds: { value: median, text: `median < ${limit} ms` },
    more: { value: median - bare, text: `more < ${limit} ms` },
  }[kind];
  return { within: value < limit ? "ok" : "over", bound: text };
}

function print(cells) {
  const [first, ...rest] = cells;
  const figures = rest.map((cell, index) => cell.padStart(widths[index]));
  process.stdout.write(`${first.padEnd(titleWidth)}${figures.join("")}\n`);
}
