import { setTimeout as delay } from "node:timers/promises";
import type { DueTimeRecord } from "@herdctl/protocol";
import { SeededRandom } from "../../chaos/seeded-random.ts";
import { queryDatabase } from "../../support/postgres.ts";
import type { RegisterCleanup } from "../../support/temp-folder.ts";
import { injectNodeFaults, type NodeFaultKind } from "./inject-node-faults.ts";
import { writeLockingClaude } from "./locking-claude.ts";
import { createTestCluster, type TestCluster } from "./test-cluster.ts";

interface ScheduleChaosPlan {
  seed: number;
  store: string;
  schedules: number;
  /** How long schedules come due, in milliseconds. */
  durationMs: number;
  calmMs?: [number, number];
  onCleanup: RegisterCleanup;
}

interface ScheduleChaosRun {
  schedules: number;
  records: DueTimeRecord[];
  /** How many due times ran, and how many were skipped because the previous run was not over. */
  ran: number;
  skipped: number;
  faultCounts: Record<NodeFaultKind, number>;
  violations: string[];
  durationMs: number;
}

const cronIntervalMs = 5_000;
const intervalMs = 7_000;

/** Runs cron and interval schedules on three nodes while faults are injected. */
export async function runScheduleChaos(plan: ScheduleChaosPlan): Promise<ScheduleChaosRun> {
  const { store, onCleanup } = plan;
  const names = Array.from({ length: plan.schedules }, (_, index) => `a${index}`);
  const fleet = await createTestCluster({
    ...{ store, count: 3, capacity: 2, names, onCleanup, withProxies: true },
    agents: names.map(agentYaml).join("\n"),
    claude: writeLockingClaude(onCleanup),
  });
  const random = new SeededRandom(plan.seed);
  const faultCounts: ScheduleChaosRun["faultCounts"] = { fleet: 0, power: 0, pause: 0, line: 0 };
  const began = Date.now();
  await Promise.all(fleet.nodes.map((node) => node.start()));
  let isOver = false;
  const faultLoops = fleet.nodes.map((node) =>
    injectNodeFaults(
      node,
      new SeededRandom(random.between(0, 2 ** 30)),
      () => isOver,
      () => true,
      (kind) => {
        faultCounts[kind] += 1;
      },
      plan.calmMs,
    ),
  );
  await Promise.race([delay(plan.durationMs), Promise.all(faultLoops)]);
  isOver = true;
  await Promise.all(faultLoops);
  // By then, due times of a node that was away are settled.
  await delay(5_000);
  const end = Date.now();
  await Promise.all(fleet.nodes.map((node) => node.stop()));
  return {
    ...(await checkDueTimes(fleet, names, end)),
    faultCounts,
    durationMs: Date.now() - began,
  };
}

/** A due time during the previous run is skipped and recorded. */
function agentYaml(name: string, index: number): string {
  const when =
    index % 2 === 0
      ? `type: cron, cron: "*/${cronIntervalMs / 1000} * * * * *", timezone: UTC`
      : `type: interval, every: ${intervalMs / 1000}s, measured_from: start`;
  const schedule = `{ ${when}, catch_up: all, prompt: p }`;
  return `  - { name: ${name}, runtime: cli, working_directory: WORKSPACE/${name}, schedules: { due: ${schedule} } }`;
}

async function checkDueTimes({ store }: TestCluster, names: readonly string[], end: number) {
  const rows = await queryDatabase(store, "SELECT record FROM herdctl.due_times ORDER BY due_at");
  const records = rows.map(({ record }) => JSON.parse(record) as DueTimeRecord);
  const jobs = await queryDatabase(
    store,
    "SELECT id, agent, idempotency_key FROM herdctl.jobs WHERE schedule IS NOT NULL",
  );
  const byAgent = Map.groupBy(records, ({ agent }) => agent);
  const named = new Set(records.map(({ job_id }) => job_id));
  const ran = records.filter(({ result }) => result === "ran").length;
  const skipped = records.filter(({ reason }) => reason === "overlap").length;
  const wrong = [
    ...names.flatMap((name, index) =>
      findGaps(name, byAgent.get(name) ?? [], index % 2 === 0 ? cronIntervalMs : intervalMs),
    ),
    ...names.flatMap((name) => findUnsettled(name, byAgent.get(name) ?? [], end)),
    ...records
      .filter(({ result, reason }) => result !== "ran" && reason !== "overlap")
      .map(({ agent, due_at, result, reason }) => `${agent} at ${due_at} was ${result}: ${reason}`),
    ...jobs.filter(({ id }) => !named.has(id)).map(({ id }) => `${id} belongs to no due time`),
    ...findDuplicates(records.flatMap(({ job_id }) => job_id ?? [])).map(
      (id) => `${id} ran for two`,
    ),
  ];
  return { schedules: names.length, records, ran, skipped, violations: wrong };
}

/** Checks that every due time from the first to the last is recorded once. */
function findGaps(name: string, records: readonly DueTimeRecord[], every: number): string[] {
  const times = records.map(({ due_at }) => Date.parse(due_at));
  if (times.length === 0) return [`${name} never came due`];
  return times.slice(1).flatMap((time, index) => {
    const step = time - (times[index] ?? 0);
    return step === every ? [] : [`${name}: ${step} ms before ${new Date(time).toISOString()}`];
  });
}

/** If all nodes missed a schedule, there would be no gap either. */
const maxLagMs = 15_000;

function findUnsettled(name: string, records: readonly DueTimeRecord[], end: number): string[] {
  const last = Date.parse(records.at(-1)?.due_at ?? "");
  return end - last > maxLagMs
    ? [`${name} was not settled for ${Math.round((end - last) / 1000)} s before the end`]
    : [];
}

function findDuplicates(all: readonly string[]): string[] {
  return all.filter((one, index) => all.indexOf(one) !== index);
}
