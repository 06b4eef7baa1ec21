// Fleets of few and of many agents: until they answer, reading their files anew, memory, and rest.
import { setTimeout as pause } from "node:timers/promises";
import { fleetOf } from "./many-agents.mjs";
import { bareNode, inTurns, isQuick, samples, startIdleNode, timeOf } from "./measure.mjs";
import { childrenOf, memoryOf, processorTime } from "./processes.mjs";
import { startFleet } from "./running-fleet.mjs";
import { rehearsedFleet } from "./stage.mjs";

const [smallest, ...larger] = [10, 100, 500, 1_000];
const seconds = isQuick ? 2 : 10;
const settled = 3_000;

export async function fleets() {
  const stages = [];
  for (const size of [smallest, ...larger]) {
    stages.push({ size, ...(await rehearsedFleet({ fleetFile: fleetOf(size) })) });
  }
  const asleep = startIdleNode();
  try {
    const starts = await inTurns(5, { node: bareNode, ...bySize(stages, started) });
    return [
      ...grown({ name: "start of a fleet", beside: "node -e 0", bare: starts.node }, starts),
      ...(await upAndRunning(stages, asleep.pid)),
    ];
  } finally {
    asleep.kill();
    for (const stage of stages) await stage.dispose();
  }
}

async function started(stage) {
  const fleet = await startFleet(stage);
  await fleet.stop();
  return fleet.upAfter;
}

async function upAndRunning(stages, asleep) {
  const up = [];
  try {
    for (const stage of stages) up.push({ size: stage.size, ...(await startFleet(stage)) });
    await pause(settled);
    const node = memoryOf(asleep).private;
    const memory = valuesOf(up, ({ pid }) => [memoryOf(pid).private]);
    const { bare, ...shares } = await sharesOf(up, asleep);
    const reloads = await inTurns(
      7,
      bySize(up, ({ control }) => timeOf(() => control.reload())),
    );
    return [
      ...grown(
        { name: "memory of the fleet process", ...idleNode, unit: "MB", bare: [node] },
        memory,
      ),
      ...grown(
        { name: "idle", ...idleNode, unit: "%", bare, bounds: { 500: { median: 1 } } },
        shares,
      ),
      ...grown({ name: "reload", bare: [] }, reloads),
    ];
  } finally {
    for (const fleet of up) await fleet.stop();
  }
}

const idleNode = { beside: "an idle node" };

/** The share of one processor that each takes while nothing is to do, its spare included. */
async function sharesOf(up, asleep) {
  const watched = { bare: [asleep], ...valuesOf(up, ({ pid }) => [pid, ...childrenOf(pid)]) };
  const found = Object.fromEntries(Object.keys(watched).map((name) => [name, []]));
  const used = () => Object.entries(watched).map(([name, pids]) => [name, timeUsed(pids)]);
  for (let round = 0; round < samples(3); round += 1) {
    const before = Object.fromEntries(used());
    await pause(seconds * 1_000);
    for (const [name, time] of used()) found[name].push(((time - before[name]) / seconds) * 100);
  }
  return found;
}

const timeUsed = (pids) => pids.reduce((sum, pid) => sum + processorTime(pid), 0);

const bySize = (all, work) => valuesOf(all, (one) => () => work(one));

const valuesOf = (all, value) => Object.fromEntries(all.map((one) => [one.size, value(one)]));

/** The smallest beside something bare, and each larger one beside the smallest. */
function grown({ name, beside, bare, unit, bounds = {} }, values) {
  const row = (size, rest) => ({
    what: `${name}, ${size.toLocaleString("en")} agents`,
    unit,
    ours: values[size],
    bound: bounds[size],
    ...rest,
  });
  return [
    row(smallest, { beside, bare }),
    ...larger.map((size) =>
      row(size, {
        beside: `${smallest} agents`,
        bare: values[smallest],
        growth: { of: name, over: "agents", from: smallest, at: size },
      }),
    ),
  ];
}
