import { setTimeout as delay } from "node:timers/promises";
import type { DueRecord } from "@herdctl/core";
import { Random } from "../../storm/random.ts";
import type { WhenOver } from "../../support/folder.ts";
import { ask } from "../../support/postgres.ts";
import { type FleetOfNodes, fleetOfNodes } from "./fleet-of-nodes.ts";
import { groupBy } from "./group-by.ts";
import { lockingClaude } from "./locking-claude.ts";
import { type Kind, weatherOver } from "./weather.ts";

interface SchedulesPlan {
  seed: number;
  store: string;
  schedules: number;
  /** For how long they come due, in milliseconds. */
  lasts: number;
  calm?: [number, number];
  whenOver: WhenOver;
}

interface SchedulesStory {
  schedules: number;
  records: DueRecord[];
  /** How many due times ran, and how many were passed over since the last run was not over. */
  ran: number;
  skipped: number;
  blows: Record<Kind, number>;
  wrong: string[];
  took: number;
}

const cronEvery = 5_000;
const intervalEvery = 7_000;

/** Half of them by cron, half by interval, on three nodes that are struck meanwhile. */
export async function schedulesOnNodes(plan: SchedulesPlan): Promise<SchedulesStory> {
  const { store, whenOver } = plan;
  const names = Array.from({ length: plan.schedules }, (_, index) => `a${index}`);
  const fleet = await fleetOfNodes({
    ...{ store, count: 3, capacity: 2, names, whenOver, withLines: true },
    agents: names.map(agentOf).join("\n"),
    claude: lockingClaude(whenOver),
  });
  const random = new Random(plan.seed);
  const blows: SchedulesStory["blows"] = { fleet: 0, power: 0, pause: 0, line: 0 };
  const began = Date.now();
  await Promise.all(fleet.nodes.map((node) => node.start()));
  let isOver = false;
  const weather = fleet.nodes.map((node) =>
    weatherOver(
      node,
      new Random(random.between(0, 2 ** 30)),
      () => isOver,
      () => true,
      (kind) => {
        blows[kind] += 1;
      },
      plan.calm,
    ),
  );
  await Promise.race([delay(plan.lasts), Promise.all(weather)]);
  isOver = true;
  await Promise.all(weather);
  // What came due while a node was away is settled by then.
  await delay(5_000);
  const end = Date.now();
  await Promise.all(fleet.nodes.map((node) => node.stop()));
  return { ...(await judge(fleet, names, end)), blows, took: Date.now() - began };
}

/** What is due while its last run is not over is passed over, and on record as such. */
function agentOf(name: string, index: number): string {
  const when =
    index % 2 === 0
      ? `type: cron, cron: "*/${cronEvery / 1000} * * * * *", timezone: UTC`
      : `type: interval, every: ${intervalEvery / 1000}s, from: start`;
  const schedule = `{ ${when}, catch_up: all, prompt: p }`;
  return `  - { name: ${name}, runtime: cli, working_directory: WORKSPACE/${name}, schedules: { due: ${schedule} } }`;
}

async function judge({ store }: FleetOfNodes, names: readonly string[], end: number) {
  const rows = await ask(store, "SELECT record FROM herdctl.due_times ORDER BY due_at");
  const records = rows.map(({ record }) => JSON.parse(record) as DueRecord);
  const jobs = await ask(
    store,
    "SELECT id, agent, idempotency_key FROM herdctl.jobs WHERE schedule IS NOT NULL",
  );
  const byAgent = groupBy(records, ({ agent }) => agent);
  const named = new Set(records.map(({ job_id }) => job_id));
  const ran = records.filter(({ result }) => result === "ran").length;
  const skipped = records.filter(({ reason }) => reason === "overlap").length;
  const wrong = [
    ...names.flatMap((name, index) =>
      gapsOf(name, byAgent.get(name) ?? [], index % 2 === 0 ? cronEvery : intervalEvery),
    ),
    ...names.flatMap((name) => unsettled(name, byAgent.get(name) ?? [], end)),
    ...records
      .filter(({ result, reason }) => result !== "ran" && reason !== "overlap")
      .map(({ agent, due_at, result, reason }) => `${agent} at ${due_at} was ${result}: ${reason}`),
    ...jobs.filter(({ id }) => !named.has(id)).map(({ id }) => `${id} belongs to no due time`),
    ...twice(records.flatMap(({ job_id }) => job_id ?? [])).map((id) => `${id} ran for two`),
  ];
  return { schedules: names.length, records, ran, skipped, wrong };
}

/** Every due time from the first to the last, each once. */
function gapsOf(name: string, records: readonly DueRecord[], every: number): string[] {
  const times = records.map(({ due_at }) => Date.parse(due_at));
  if (times.length === 0) return [`${name} never came due`];
  return times.slice(1).flatMap((time, index) => {
    const step = time - (times[index] ?? 0);
    return step === every ? [] : [`${name}: ${step} ms before ${new Date(time).toISOString()}`];
  });
}

/** One that all nodes lost sight of would show no gap either. */
const mostBehind = 15_000;

function unsettled(name: string, records: readonly DueRecord[], end: number): string[] {
  const last = Date.parse(records.at(-1)?.due_at ?? "");
  return end - last > mostBehind
    ? [`${name} was not settled for ${Math.round((end - last) / 1000)} s before the end`]
    : [];
}

function twice(all: readonly string[]): string[] {
  return all.filter((one, index) => all.indexOf(one) !== index);
}
