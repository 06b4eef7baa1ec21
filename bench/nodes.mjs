// Jobs of one process with its own state, of one node on PostgreSQL, and of three; and what people look at there.
import { finishedJobsIn } from "./finished-jobs.mjs";
import { inTurns, isQuick, timeOf } from "./measure.mjs";
import { middles } from "./middles.mjs";
import { nodes, withPostgres } from "./node-stage.mjs";

const atOnce = isQuick ? 6 : 120;
const pickups = isQuick ? 2 : 40;
const three = "three nodes on PostgreSQL";

/** From its admission to the beginning of its attempt, by the record. */
export const nodePickup = () => withFleets(pickupRows);

/** How many a second, each from its trigger to its end. */
export const nodeRate = () => withFleets(rateRows);

function withFleets(measure) {
  return withPostgres(async ({ newStore }) => {
    const open = [];
    const fleetOf = async (count, options) => {
      const fleet = await nodes(count, options);
      open.push(fleet);
      return fleet.up;
    };
    try {
      const near = ["name: near"];
      const flags = (index) => ["--node-name", `n${index}`, "--labels", `place-${index}`];
      const fleets = {
        embedded: await fleetOf(1, { agents: near }),
        one: await fleetOf(1, { agents: near, store: await newStore(), flags }),
        three: await fleetOf(3, {
          agents: [...near, "name: far, runs_on: [place-2]"],
          store: await newStore(),
          flags,
        }),
      };
      return await measure(fleets);
    } finally {
      for (const fleet of open) await fleet.stop();
    }
  });
}

async function pickupRows({ embedded, one, three: all }) {
  const times = await inTurns(pickups, {
    bare: () => pickup(embedded[0], "near"),
    one: () => pickup(one[0], "near"),
    three: () => pickup(all[0], "near"),
    far: () => pickup(all[0], "far"),
  });
  const row = (what, ours) => ({
    what: `pickup, ${what}`,
    beside: "its own state",
    ours,
    bare: times.bare,
    bound: { median: 25 },
  });
  return [
    row("one node on PostgreSQL", times.one),
    row(three, times.three),
    row("by another node than was asked", times.far),
  ];
}

async function pickup({ control }, agent) {
  const { job } = await control.trigger({ trigger: "manual", agent, prompt: "hello" });
  await control.wait(job.id);
  const { attempts } = await control.job(job.id);
  return Date.parse(attempts[0].started_at) - Date.parse(job.created_at);
}

async function rateRows({ embedded, one, three: all }) {
  const times = await inTurns(3, {
    bare: () => rate(embedded),
    one: () => rate(one),
    three: () => rate(all),
  });
  const row = (what, ours) => ({
    ...{ what: `jobs, ${what}`, unit: "/s", beside: "its own state", ours, bare: times.bare },
  });
  return [row("one node on PostgreSQL", times.one), row(three, times.three)];
}

/** Asked for on all nodes in turn, and waited for there. */
async function rate(fleet) {
  const took = await timeOf(() =>
    Promise.all(
      Array.from({ length: atOnce }, async (_, index) => {
        const { control } = fleet[index % fleet.length];
        const request = { trigger: "manual", agent: "near", prompt: "hello" };
        const { job } = await control.trigger(request);
        await control.wait(job.id);
      }),
    ),
  );
  return (atOnce * 1_000) / took;
}

const few = 10;
const many = isQuick ? 2_000 : 1_000_000;
const agents = Array.from({ length: 10 }, (_, index) => `agent-${index}`);

/** What people look at most, with hardly any past and with a very long one. */
export function nodeStore() {
  return withPostgres(async ({ newStore, ask }) => {
    const open = [];
    try {
      const fleets = [];
      for (const size of [few, many]) {
        const store = await newStore();
        await finishedJobsIn(store, agents, size, ask);
        const fleet = await nodes(1, {
          store,
          agents: agents.map((name) => `name: ${name}`),
          fleet: `, retention: { jobs_per_agent: ${many} }`,
        });
        open.push(fleet);
        fleets.push({ size, control: fleet.up[0].control });
      }
      return await looks(fleets);
    } finally {
      for (const fleet of open) await fleet.stop();
    }
  });
}

async function looks(fleets) {
  const cursors = await middles(fleets);
  const questions = {
    "list of jobs": ({ control }) => control.jobs({ limit: 10 }),
    status: ({ control }) => control.status(),
    "page from the middle": ({ control, size }) =>
      control.jobs({ limit: 5, cursor: cursors.get(size) }),
    "failed jobs of an agent": ({ control }) =>
      control.jobs({ limit: 10, agent: agents[3], status: "failed" }),
    costs: ({ control }) => control.costs({ days: 30, by: "agent" }),
  };
  const rows = [];
  for (const [name, ask] of Object.entries(questions)) {
    const works = fleets.map((fleet) => [fleet.size, () => timeOf(() => ask(fleet))]);
    const times = await inTurns(60, Object.fromEntries(works));
    rows.push({
      what: `${name}, ${many.toLocaleString("en")} shared jobs`,
      beside: `${few} jobs`,
      ours: times[many],
      bare: times[few],
      bound: { ratio: 1.5 },
    });
  }
  return rows;
}
