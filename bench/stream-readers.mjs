// What a hundred readers of one busy job cost the fleet process in memory, beside a single one.
import { setTimeout as pause } from "node:timers/promises";
import { memoryOf } from "./processes.mjs";
import { startFleet } from "./running-fleet.mjs";
import { rehearsedFleet } from "./stage.mjs";

const turns = 60;
const command = "head -c 20000 /dev/zero | tr '\\0' x";
const turn = { tools: [{ name: "Bash", input: { command } }] };
const script = { rules: [{ replies: [...Array(turns).fill(turn), "Done."] }] };
const lookEvery = 100;
const settled = 2_000;

export async function streamReaders() {
  const stage = await rehearsedFleet({ script });
  const fleet = await startFleet(stage);
  try {
    // The first job of a fleet pays for what all later ones use.
    await peakWith(1, fleet);
    const bare = [await peakWith(1, fleet)];
    const ours = [await peakWith(100, fleet)];
    return {
      what: "100 readers of one busy job",
      beside: "one reader",
      unit: "MB",
      ours,
      bare,
      bound: { more: 50 },
    };
  } finally {
    await fleet.stop();
    await stage.dispose();
  }
}

/** The most private memory of the fleet process while a job is at work and this many look on. */
async function peakWith(readers, { control, pid }) {
  await pause(settled);
  const { job } = await control.trigger({ trigger: "manual", agent: "hello" });
  const follow = () => ({ follow: new AbortController().signal });
  const reading = Array.from({ length: readers }, () => read(control.output(job.id, follow())));
  let peak = 0;
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      peak = Math.max(peak, memoryOf(pid).private);
      await pause(lookEvery);
    }
  })();
  const counts = await Promise.all(reading);
  isOver = true;
  await looking;
  if (new Set(counts).size !== 1 || counts[0] < turns) throw new Error("a reader missed something");
  return peak;
}

async function read(output) {
  let count = 0;
  for await (const _ of output) count += 1;
  return count;
}
