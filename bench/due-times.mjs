// How late due times become jobs, and how long a fleet is deaf while a thousand of them do.
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { FleetManager } from "@herdctl/core";
import { startFleet } from "./running-fleet.mjs";
import { rehearsedFleet } from "./stage.mjs";

const seconds = 10;
const rounds = 3;
const lookEvery = 2;

/** Every second, whatever their jobs do: those wait in the queue, of which one at a time runs. */
export async function dueTimes() {
  const count = 100;
  const stage = await rehearsedFleet({ fleetFile: fleetOf(count, "* * * * * *") });
  const fleet = await startFleet(stage);
  try {
    await pause((seconds + 2) * 1_000);
    const ours = (await ledger(fleet.control))
      .filter(({ result }) => result === "ran")
      .slice(-count * seconds)
      .map(({ due_at, settled_at }) => Date.parse(settled_at) - Date.parse(due_at));
    if (ours.length < count * seconds) throw new Error(`only ${ours.length} due times became jobs`);
    const what = `${count} schedules at one second`;
    return { what, beside: "a timer", ours, bare: await bareTimer(), bound: { p99: 1_000 } };
  } finally {
    await fleet.stop();
    await stage.dispose();
  }
}

/** The longest time in which nothing else had its turn. */
export async function deafness() {
  const count = 1_000;
  const stage = await rehearsedFleet({ fleetFile: fleetOf(count, "*/10 * * * * *") });
  const fleet = new FleetManager({ file: join(stage.folder, "herdctl.yaml"), env: stage.env });
  try {
    await fleet.start();
    await pause(1_000);
    const ours = [];
    for (let round = 0; round < rounds; round += 1) ours.push(await longestHold(untilNext(10)));
    const { records } = await fleet.dueTimes({ limit: 1_000 });
    if (records.length < count) throw new Error(`only ${records.length} due times are settled`);
    const bare = [await longestHold(seconds * 1_000)];
    const what = `${count.toLocaleString("en")} due at once, longest hold`;
    return { what, beside: "the same fleet at rest", ours, bare, bound: { more: 100 } };
  } finally {
    await fleet.stop({ drainMs: 0 });
    await stage.dispose();
  }
}

const fleetOf = (count, cron) => `version: 1
fleet: { name: due, max_concurrent: 1, budget: { daily_jobs: 1000000 } }
agents:
${Array.from({ length: count }, (_, index) => agent(`agent-${index}`, cron)).join("")}`;

const agent = (name, cron) => `  - name: ${name}
    runtime: cli
    schedules:
      due: { type: cron, cron: "${cron}", timezone: Europe/Berlin, overlap: allow, prompt: hello }
`;

async function ledger(control) {
  const records = [];
  for (let cursor; ; ) {
    const page = await control.dueTimes({ limit: 1_000, cursor });
    records.push(...page.records);
    if (page.next === null) return records;
    cursor = page.next;
  }
}

async function bareTimer() {
  const late = [];
  for (let second = 0; second < seconds; second += 1) {
    const due = Math.ceil((Date.now() + 1) / 1_000) * 1_000;
    await pause(due - Date.now());
    late.push(Math.max(0, Date.now() - due));
  }
  return late;
}

/** Until all that is due at the next full so many seconds has been seen to. */
function untilNext(every) {
  const now = Date.now();
  return Math.ceil((now + 1) / (every * 1_000)) * every * 1_000 - now + (every * 1_000) / 2;
}

async function longestHold(milliseconds) {
  const end = performance.now() + milliseconds;
  let longest = 0;
  for (let last = performance.now(); last < end; ) {
    await pause(lookEvery);
    const now = performance.now();
    longest = Math.max(longest, now - last - lookEvery);
    last = now;
  }
  return longest;
}
