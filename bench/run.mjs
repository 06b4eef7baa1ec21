// `npm run bench [name …]`: figures, each beside the bare thing in the same run and beside its bound.
import { chat } from "./chat.mjs";
import { config } from "./config.mjs";
import { dashboardEvents, dashboardFirstPage } from "./dashboard.mjs";
import { dockerAhead, dockerCold, dockerWarm } from "./docker.mjs";
import { deafness, dueTimes } from "./due-times.mjs";
import { executor } from "./executor.mjs";
import { fleetCommand, fleetSocket, fleetWarm } from "./fleet.mjs";
import { fleetMemory } from "./fleet-memory.mjs";
import { fleetStart } from "./fleet-start.mjs";
import { idle } from "./idle.mjs";
import { liveTurn } from "./live.mjs";
import { manyJobs } from "./many-jobs.mjs";
import { quantile } from "./measure.mjs";
import { memory } from "./memory.mjs";
import { spawnTime } from "./spawn-time.mjs";
import { startup } from "./startup.mjs";
import { streamReaders } from "./stream-readers.mjs";
import { trigger } from "./trigger.mjs";

const benches = {
  config,
  startup,
  executor,
  memory,
  trigger,
  fleetSocket,
  fleetWarm,
  fleetCommand,
  liveTurn,
  spawnTime,
  manyJobs,
  dueTimes,
  deafness,
  fleetStart,
  idle,
  fleetMemory,
  streamReaders,
  chat,
  dashboardFirstPage,
  dashboardEvents,
  dockerCold,
  dockerWarm,
  dockerAhead,
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
for (const name of names) for (const row of [await benches[name]()].flat()) show(row);

function show(row) {
  const unit = row.unit ?? "ms";
  const [median, bare] = [row.ours, row.bare].map((samples) => quantile(samples, 0.5));
  const ratio = median / bare;
  const amount = (value) => `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
  const figures = (samples) => [0.5, 0.95].map((share) => amount(quantile(samples, share)));
  const { within, bound } = judge(row, median, bare, unit);
  const times = Number.isFinite(ratio) ? `${ratio.toFixed(2)}×` : "";
  print([row.what, ...figures(row.ours), times, bound, within]);
  print([`  ${row.bareThing}`, ...figures(row.bare), times && "1×", "", ""]);
  if (within === "over") process.exitCode = 1;
}

/** A bound is on the median, p95 or p99, on its ratio to the bare thing, or on what it is more than that. */
function judge({ bound, ours }, median, bare, unit) {
  if (bound === undefined) return { within: "", bound: "" };
  const [[kind, limit]] = Object.entries(bound);
  const { value, text } = {
    ratio: { value: median / bare, text: `ratio < ${limit}×` },
    median: { value: median, text: `median < ${limit} ${unit}` },
    p95: { value: quantile(ours, 0.95), text: `p95 < ${limit} ${unit}` },
    p99: { value: quantile(ours, 0.99), text: `p99 < ${limit} ${unit}` },
    more: { value: median - bare, text: `more < ${limit} ${unit}` },
  }[kind];
  return { within: value < limit ? "ok" : "over", bound: text };
}

function print(cells) {
  const [first, ...rest] = cells;
  const figures = rest.map((cell, index) => cell.padStart(widths[index]));
  process.stdout.write(`${first.padEnd(titleWidth)}${figures.join("")}\n`);
}
