import { setTimeout as delay } from "node:timers/promises";
import { SeededRandom } from "../../chaos/seeded-random.ts";
import { waitUntil } from "../../support/fleet-child-process.ts";
import { type PrivatePostgres, queryDatabase } from "../../support/postgres.ts";
import type { RegisterCleanup } from "../../support/temp-folder.ts";
import type { ClusterRun } from "./check-cluster.ts";
import { injectNodeFaults, type NodeFaultKind } from "./inject-node-faults.ts";
import { writeLockingClaude } from "./locking-claude.ts";
import { createTestCluster, type TestCluster } from "./test-cluster.ts";

interface JobChaosPlan {
  seed: number;
  store: string;
  jobs: number;
  agents: number;
  /** How many of the agents run the real `claude`. */
  realClaudeAgents: number;
  capacity: number;
  /** All jobs must have ended within this many milliseconds. */
  timeoutMs: number;
  /** The range of the pause between two faults of a node, in milliseconds. */
  calmMs?: [number, number];
  /**
   * The exact number of faults, even if all jobs have ended; by default faults last as long as the
   * jobs.
   */
  maxFaults?: number;
  /** Stops the database server for a while, in milliseconds. */
  outage?: { server: Pick<PrivatePostgres, "stop" | "start">; after: number; lasts: number };
  onCleanup: RegisterCleanup;
}

export interface JobChaosRun extends ClusterRun {
  faultCounts: Record<NodeFaultKind, number>;
  /** How many faults lasted long enough to declare the node lost. */
  longFaultCount: number;
  durationMs: number;
}

/** Triggers jobs on three nodes while faults are injected, then waits until all jobs end. */
export async function runJobChaos(plan: JobChaosPlan): Promise<JobChaosRun> {
  const { onCleanup, store, capacity } = plan;
  const names = Array.from({ length: plan.agents }, (_, index) =>
    index < plan.realClaudeAgents ? `real${index}` : `a${index}`,
  );
  const fleet = await createTestCluster({
    ...{ store, count: 3, capacity, names, onCleanup, withProxies: true },
    agents: names.map(agentYaml).join("\n"),
    claude: writeLockingClaude(onCleanup),
    script: { rules: [{ replies: [{ text: "It is done.", delay: { first: "300ms" } }] }] },
  });
  await Promise.all(fleet.nodes.map((node) => node.start()));
  return injectFaultsAndTrigger(plan, fleet, names);
}

/** One job at a time: the lock of the stand-in detects a second one. */
function agentYaml(name: string): string {
  const hook = "hooks: { after_run: [{ type: shell, command: 'true' }] }";
  return `  - { name: ${name}, runtime: cli, max_concurrent: 1, working_directory: WORKSPACE/${name}, ${hook} }`;
}

async function injectFaultsAndTrigger(
  plan: JobChaosPlan,
  fleet: TestCluster,
  names: string[],
): Promise<JobChaosRun> {
  const began = Date.now();
  const random = new SeededRandom(plan.seed);
  const blows: JobChaosRun["faultCounts"] = { fleet: 0, power: 0, pause: 0, line: 0 };
  let long = 0;
  let isEnded = false;
  let due = plan.maxFaults ?? Number.POSITIVE_INFINITY;
  // With `maxFaults` the run is over after that many; each fault loop takes the next one.
  const isOver = () => (plan.maxFaults === undefined ? isEnded : due <= 0);
  const faultLoops = fleet.nodes.map((node) =>
    injectNodeFaults(
      node,
      new SeededRandom(random.between(0, 2 ** 30)),
      isOver,
      () => due-- > 0,
      (kind, lasted) => {
        blows[kind] += 1;
        if (lasted > 9_000) long += 1;
      },
      plan.calmMs,
    ),
  );
  const accepted = new Map<string, string>();
  const triggers = triggerAll(plan, fleet, names, random, accepted);
  // Rejects with the first failure instead of a timeout of the jobs.
  const ended = triggers.then(() => waitUntilAllEnded(fleet, plan));
  const outage = interruptStore(plan);
  await Promise.race([ended, Promise.all([...faultLoops, outage]).then(() => ended)]).finally(
    () => {
      isEnded = true;
    },
  );
  await outage;
  await Promise.all(faultLoops);
  await Promise.all(fleet.nodes.map((node) => node.stop()));
  return {
    fleet,
    accepted,
    hasHooks: true,
    faultCounts: blows,
    longFaultCount: long,
    durationMs: Date.now() - began,
  };
}

/** Stops the store for all nodes. */
async function interruptStore({ outage }: JobChaosPlan): Promise<void> {
  if (!outage) return;
  await delay(outage.after);
  await outage.server.stop();
  await delay(outage.lasts);
  await outage.server.start();
}

/** Triggers several jobs concurrently through any node that answers, until each is acknowledged. */
async function triggerAll(
  { jobs }: JobChaosPlan,
  { nodes }: TestCluster,
  names: readonly string[],
  random: SeededRandom,
  accepted: Map<string, string>,
): Promise<void> {
  const waiting = Array.from({ length: jobs }, (_, index) => index).values();
  const triggerUntilAcknowledged = async (index: number) => {
    const key = `key-${index}`;
    const agent = names[index % names.length] ?? "";
    for (;;) {
      try {
        const node = random.pick([nodes[0], ...nodes.slice(1)]);
        const request = { trigger: "manual" as const, agent, prompt: `Do ${key}.`, key };
        const { job } = (await node?.control.jobs.trigger(request)) ?? {};
        if (job) return void accepted.set(key, job.id);
      } catch {
        // It is unknown whether the trigger was accepted; the key makes the repetition safe.
      }
      await delay(50);
    }
  };
  const worker = async () => {
    for (const index of waiting) await triggerUntilAcknowledged(index);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** Waits until all jobs have ended and their hooks have run. */
async function waitUntilAllEnded(
  { store }: TestCluster,
  { timeoutMs }: JobChaosPlan,
): Promise<void> {
  const open = `SELECT (SELECT count(*) FROM herdctl.jobs WHERE finished_at IS NULL)
                     + (SELECT count(*) FROM herdctl.job_end_outbox)
                     + (SELECT count(*) FROM herdctl.hook_runs WHERE status NOT IN ('succeeded', 'failed')) AS open`;
  await waitUntil(
    "the end of all jobs",
    async () => {
      await delay(500);
      const [row] = await queryDatabase(store, open).catch(() => []);
      return row !== undefined && Number(row.open) === 0;
    },
    timeoutMs,
  );
}
