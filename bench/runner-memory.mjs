// Memory of the processes that a fleet has beside it: a spare, and a runner at work.
import { setTimeout as pause } from "node:timers/promises";
import { startIdleNode } from "./measure.mjs";
import { childrenOf, memoryOf } from "./processes.mjs";
import { startFleet } from "./running-fleet.mjs";
import { rehearsedFleet } from "./stage.mjs";

const settled = 3_000;
const command = "for i in $(seq 300); do sleep 0.1; done";
const atWork = { tools: [{ name: "Bash", input: { command } }] };

export async function runnerMemory() {
  const stage = await rehearsedFleet({ script: { rules: [{ replies: [atWork, "Done."] }] } });
  const fleet = await startFleet(stage);
  const idle = startIdleNode();
  try {
    const runner = await workingRunner(fleet.control);
    await pause(settled);
    const spare = childrenOf(fleet.pid).find((pid) => pid !== runner);
    const bare = memoryOf(idle.pid);
    const parts = { spare, "runner at work": runner };
    const rows = Object.entries(parts).flatMap(([name, pid]) => rowsOf(name, memoryOf(pid), bare));
    await fleet.control.shutdown({ drainMs: 0 });
    return rows;
  } finally {
    idle.kill();
    await fleet.stop();
    await stage.dispose();
  }
}

async function workingRunner(control) {
  const { job } = await control.trigger({ trigger: "manual", agent: "hello" });
  for (;;) {
    const { runner, outcome } = (await control.job(job.id)).job;
    if (outcome) throw new Error(`the job ended as ${outcome.code}`);
    if (runner) return runner.pid;
    await pause(20);
  }
}

function rowsOf(name, ours, bare) {
  return ["rss", "private"].map((kind) => ({
    what: `${name}, ${kind === "rss" ? "RSS" : kind}`,
    beside: "an idle node",
    unit: "MB",
    ours: [ours[kind]],
    bare: [bare[kind]],
  }));
}
