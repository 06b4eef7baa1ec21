// What people look at most, in a fleet with a long past and in one with hardly any.
import { join } from "node:path";
import { finishedJobs } from "./finished-jobs.mjs";
import { inTurns } from "./measure.mjs";
import { herdctl, startFleet } from "./running-fleet.mjs";
import { rehearsedFleet } from "./stage.mjs";
import { timed } from "./trigger.mjs";

const many = 100_000;
const few = 10;
const agents = Array.from({ length: 10 }, (_, index) => `agent-${index}`);
const fleetFile = `version: 1
fleet: { name: bench, retention: { jobs_per_agent: ${many} } }
agents:
${agents.map((name) => `  - { name: ${name}, runtime: cli }`).join("\n")}
`;

export async function manyJobs() {
  const [long, short] = [await stageWith(many), await stageWith(few)];
  try {
    return [
      ...(await withFleets([long, short], async () => [
        await compare("status", long, short),
        await compare("jobs --json", long, short),
      ])),
      await compare("jobs --json", long, short, ", no fleet"),
    ];
  } finally {
    for (const stage of [long, short]) await stage.dispose();
  }
}

async function stageWith(amount) {
  const stage = await rehearsedFleet({ fleetFile });
  await finishedJobs(join(stage.folder, ".herdctl"), agents, amount);
  return stage;
}

async function withFleets(stages, measure) {
  const fleets = [];
  try {
    for (const stage of stages) fleets.push(await startFleet(stage));
    return await measure();
  } finally {
    for (const fleet of fleets) await fleet.stop();
  }
}

async function compare(command, long, short, how = "") {
  const show = (stage) => () => timed(process.execPath, [herdctl, ...command.split(" ")], stage);
  const times = await inTurns(15, { ours: show(long), bare: show(short) });
  const what = `${command}, ${many.toLocaleString("en")} jobs${how}`;
  return { what, bareThing: `${few} jobs`, ...times, bound: { ratio: 1.5 } };
}
