// What people look at most, in fleets with hardly any past, with some, and with a long one.
import { join } from "node:path";
import { finishedJobs } from "./finished-jobs.mjs";
import { inTurns, timeOf } from "./measure.mjs";
import { middles } from "./middles.mjs";
import { herdctl, startFleet } from "./running-fleet.mjs";
import { rehearsedFleet } from "./stage.mjs";
import { timed } from "./timed.mjs";

const [few, some, many] = [10, 10_000, 100_000];
const agents = Array.from({ length: 10 }, (_, index) => `agent-${index}`);
const fleetFile = `version: 1
fleet: { name: bench, retention: { jobs_per_agent: ${many} } }
agents:
${agents.map((name) => `  - { name: ${name}, runtime: cli }`).join("\n")}
`;

export async function store() {
  const stages = [];
  try {
    for (const size of [few, some, many]) stages.push({ size, ...(await stageWith(size)) });
    return [
      ...(await withFleets(stages, async (fleets) => [
        ...(await atSocket("list of jobs", fleets, ({ control }) => control.jobs({ limit: 10 }))),
        ...(await atSocket("status", fleets, ({ control }) => control.status())),
        ...(await atSocket("page from the middle", fleets, pageOf(await middles(fleets)))),
        await byCommand("status", stages),
        await byCommand("jobs --json", stages),
      ])),
      await byCommand("jobs --json", stages, ", no fleet"),
    ];
  } finally {
    for (const stage of stages) await stage.dispose();
  }
}

async function stageWith(size) {
  const stage = await rehearsedFleet({ fleetFile });
  await finishedJobs(join(stage.folder, ".herdctl"), agents, size);
  return stage;
}

async function withFleets(stages, measure) {
  const fleets = [];
  try {
    for (const stage of stages) fleets.push({ size: stage.size, ...(await startFleet(stage)) });
    return await measure(fleets);
  } finally {
    for (const fleet of fleets) await fleet.stop();
  }
}

async function atSocket(name, fleets, ask) {
  const works = fleets.map((fleet) => [fleet.size, () => timeOf(() => ask(fleet))]);
  const times = await inTurns(60, Object.fromEntries(works));
  return [some, many].map((size) => ({
    what: `${name}, ${size.toLocaleString("en")} jobs`,
    beside: `${few} jobs`,
    ours: times[size],
    bare: times[few],
    bound: size === many ? { ratio: 1.5 } : undefined,
    growth: { of: name, over: "finished jobs", from: few, at: size },
  }));
}

function pageOf(cursors) {
  return async ({ size, control }) => {
    const { jobs } = await control.jobs({ limit: 5, cursor: cursors.get(size) });
    if (jobs.length !== 5) throw new Error(`a page has ${jobs.length} jobs`);
  };
}

async function byCommand(command, stages, how = "") {
  const show = (size) => () =>
    timed(
      process.execPath,
      [herdctl, ...command.split(" ")],
      stages.find((stage) => stage.size === size),
    );
  const times = await inTurns(12, { ours: show(many), bare: show(few) });
  const what = `herdctl ${command}, ${many.toLocaleString("en")} jobs${how}`;
  return { what, beside: `${few} jobs`, ...times, bound: { ratio: 1.5 } };
}
