// What share of one processor a fleet takes while nothing is to do, its spare included.
import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { fleetOf } from "./many-agents.mjs";
import { childrenOf, processorTime } from "./processes.mjs";
import { startFleet } from "./running-fleet.mjs";
import { rehearsedFleet } from "./stage.mjs";

const agents = 500;
const seconds = 10;
const settled = 3_000;

export async function idle() {
  const stage = await rehearsedFleet({ fleetFile: fleetOf(agents) });
  const fleet = await startFleet(stage);
  const asleep = spawn(process.execPath, ["-e", "setInterval(() => {}, 2 ** 30)"]);
  try {
    await pause(settled);
    const ours = await shares(() => [fleet.pid, ...childrenOf(fleet.pid)]);
    const bare = await shares(() => [asleep.pid]);
    const bound = { median: 1 };
    return {
      what: `idle, ${agents} agents`,
      bareThing: "an idle node",
      unit: "%",
      ours,
      bare,
      bound,
    };
  } finally {
    asleep.kill();
    await fleet.stop();
    await stage.dispose();
  }
}

async function shares(pids) {
  const found = [];
  for (let round = 0; round < 3; round += 1) {
    const watched = pids();
    const before = watched.map(processorTime);
    await pause(seconds * 1_000);
    const used = watched.map((pid, index) => processorTime(pid) - before[index]);
    found.push((used.reduce((sum, one) => sum + one, 0) / seconds) * 100);
  }
  return found;
}
