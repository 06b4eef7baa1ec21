// Start and idle processor time of a fleet with 1,000 agents, compared with one that has ten.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { createRehearsedFleet, startFleet } from "./bench-fleet.mjs";
import { alternate, isQuick, samples } from "./measure.mjs";

const settleMs = 3_000;
const idleSeconds = isQuick ? 2 : 10;
/** Of /proc/PID/stat on Linux. */
const ticksPerSecond = 100;

export async function largeFleet() {
  const small = await createRehearsedFleet({ fleetFile: fleetFile(10) });
  const large = await createRehearsedFleet({ fleetFile: fleetFile(1_000) });
  try {
    const starts = await alternate(5, {
      small: () => timeOfStart(small),
      large: () => timeOfStart(large),
    });
    const shares = await idleShares(small, large);
    return [
      row("start of a fleet with 1,000 agents", "ms", starts, { ratio: 4 }),
      row("idle fleet with 1,000 agents", "%", shares, { median: 2 }),
    ];
  } finally {
    await small.dispose();
    await large.dispose();
  }
}

const row = (name, unit, { small, large }, bound) => ({
  name,
  unit,
  values: large,
  baseline: { name: "10 agents", values: small },
  bound,
});

async function timeOfStart(stage) {
  const fleet = await startFleet(stage);
  await fleet.stop();
  return fleet.startMs;
}

/** The share of one processor, in percent, that each fleet uses while it has nothing to do. */
async function idleShares(...stages) {
  const fleets = [];
  try {
    for (const stage of stages) fleets.push(await startFleet(stage));
    await pause(settleMs);
    const [small, large] = fleets.map(({ pid }) => [pid, ...childrenOf(pid)]);
    const shares = { small: [], large: [] };
    for (let sample = 0; sample < samples(3); sample += 1) {
      const before = { small: secondsUsed(small), large: secondsUsed(large) };
      await pause(idleSeconds * 1_000);
      shares.small.push(((secondsUsed(small) - before.small) / idleSeconds) * 100);
      shares.large.push(((secondsUsed(large) - before.large) / idleSeconds) * 100);
    }
    return shares;
  } finally {
    for (const fleet of fleets) await fleet.stop();
  }
}

function secondsUsed(pids) {
  const ticks = pids.flatMap((pid) => readProcStat(pid).slice(11, 13).map(Number));
  return ticks.reduce((sum, one) => sum + one, 0) / ticksPerSecond;
}

function childrenOf(pid) {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return all.filter((child) => parentOf(child) === pid);
}

function parentOf(pid) {
  try {
    return Number(readProcStat(pid)[1]);
  } catch {
    return undefined;
  }
}

/** The fields from the state on: the name before it may contain spaces. */
function readProcStat(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function fleetFile(count) {
  const agents = Array.from({ length: count }, (_, index) => agent(index));
  return `version: 1
fleet: { name: bench }
defaults: { permission_mode: acceptEdits, max_turns: 50 }
agents:
${agents.join("")}`;
}

/** Its schedules are not due during the measurement. */
const agent = (index) => `  - name: agent-${index}
    runtime: cli
    allowed_tools: [Read, Edit, Bash]
    schedules:
      issues: { type: interval, every: 7d, prompt: "Fix the oldest ready issue." }
      report: { type: cron, cron: "${index % 60} 4 29 2 *", prompt: "Write the report." }
`;
