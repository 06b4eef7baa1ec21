import { setTimeout as delay } from "node:timers/promises";
import { Random } from "../../storm/random.ts";
import { until } from "../../support/fleet-program.ts";
import type { WhenOver } from "../../support/folder.ts";
import { ask, type OwnPostgres } from "../../support/postgres.ts";
import { type FleetOfNodes, fleetOfNodes } from "./fleet-of-nodes.ts";
import type { NodesStory } from "./judge-nodes.ts";
import { lockingClaude } from "./locking-claude.ts";
import { type Kind, weatherOver } from "./weather.ts";

interface StormPlan {
  seed: number;
  store: string;
  jobs: number;
  agents: number;
  /** Of those, so many whose `claude` is the real one. */
  real: number;
  capacity: number;
  /** Within which time all must have ended, in milliseconds. */
  patience: number;
  /** For how long a node is left alone between two blows, from and to, in milliseconds. */
  calm?: [number, number];
  /** So many blows and no more, though all jobs may have ended; else for as long as they last. */
  blows?: number;
  /** A server that is stopped for so long in the midst of it, in milliseconds. */
  outage?: { server: Pick<OwnPostgres, "stop" | "start">; after: number; lasts: number };
  whenOver: WhenOver;
}

export interface StormStory extends NodesStory {
  blows: Record<Kind, number>;
  /** How many lasted long enough that the node counted as lost. */
  long: number;
  took: number;
}

/** Jobs are triggered on three nodes, to which this and that happens; then all come to their end. */
export async function stormOverNodes(plan: StormPlan): Promise<StormStory> {
  const { whenOver, store, capacity } = plan;
  const names = Array.from({ length: plan.agents }, (_, index) =>
    index < plan.real ? `real${index}` : `a${index}`,
  );
  const fleet = await fleetOfNodes({
    ...{ store, count: 3, capacity, names, whenOver, withLines: true },
    agents: names.map(agentOf).join("\n"),
    claude: lockingClaude(whenOver),
    script: { rules: [{ replies: [{ text: "It is done.", delay: { first: "300ms" } }] }] },
  });
  await Promise.all(fleet.nodes.map((node) => node.start()));
  return rage(plan, fleet, names);
}

/** One at a time: the lock of the stand-in tells when it was two. */
function agentOf(name: string): string {
  const hook = "hooks: { after_run: [{ type: shell, command: 'true' }] }";
  return `  - { name: ${name}, runtime: cli, max_concurrent: 1, working_directory: WORKSPACE/${name}, ${hook} }`;
}

async function rage(plan: StormPlan, fleet: FleetOfNodes, names: string[]): Promise<StormStory> {
  const began = Date.now();
  const random = new Random(plan.seed);
  const blows: StormStory["blows"] = { fleet: 0, power: 0, pause: 0, line: 0 };
  let long = 0;
  let isEnded = false;
  let due = plan.blows ?? Number.POSITIVE_INFINITY;
  // With a number given it is over when all of them have fallen; whoever asks first takes one.
  const isOver = () => (plan.blows === undefined ? isEnded : due <= 0);
  const weather = fleet.nodes.map((node) =>
    weatherOver(
      node,
      new Random(random.between(0, 2 ** 30)),
      isOver,
      () => due-- > 0,
      (kind, lasted) => {
        blows[kind] += 1;
        if (lasted > 9_000) long += 1;
      },
      plan.calm,
    ),
  );
  const accepted = new Map<string, string>();
  const triggers = triggerAll(plan, fleet, names, random, accepted);
  // Whichever fails first is told, and not only that jobs did not end.
  const ended = triggers.then(() => allEnded(fleet, plan));
  const outage = interrupt(plan);
  await Promise.race([ended, Promise.all([...weather, outage]).then(() => ended)]).finally(() => {
    isEnded = true;
  });
  await outage;
  await Promise.all(weather);
  await Promise.all(fleet.nodes.map((node) => node.stop()));
  return { fleet, accepted, isHooked: true, blows, long, took: Date.now() - began };
}

/** The store is away for all at once. */
async function interrupt({ outage }: StormPlan): Promise<void> {
  if (!outage) return;
  await delay(outage.after);
  await outage.server.stop();
  await delay(outage.lasts);
  await outage.server.start();
}

/** Some at a time, each by any node that answers, until it is acknowledged. */
async function triggerAll(
  { jobs }: StormPlan,
  { nodes }: FleetOfNodes,
  names: readonly string[],
  random: Random,
  accepted: Map<string, string>,
): Promise<void> {
  const waiting = Array.from({ length: jobs }, (_, index) => index).values();
  const untilAcknowledged = async (index: number) => {
    const key = `key-${index}`;
    const agent = names[index % names.length] ?? "";
    for (;;) {
      try {
        const node = random.pick([nodes[0], ...nodes.slice(1)]);
        const request = { trigger: "manual" as const, agent, prompt: `Do ${key}.`, key };
        const { job } = (await node?.control.trigger(request)) ?? {};
        if (job) return void accepted.set(key, job.id);
      } catch {
        // Whether it had been accepted is not known: the key will tell.
      }
      await delay(50);
    }
  };
  const worker = async () => {
    for (const index of waiting) await untilAcknowledged(index);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** And their hooks have run. */
async function allEnded({ store }: FleetOfNodes, { patience }: StormPlan): Promise<void> {
  const open = `SELECT (SELECT count(*) FROM herdctl.jobs WHERE finished_at IS NULL)
                     + (SELECT count(*) FROM herdctl.endings)
                     + (SELECT count(*) FROM herdctl.hook_runs WHERE status NOT IN ('succeeded', 'failed')) AS open`;
  await until(
    "the end of all jobs",
    async () => {
      await delay(500);
      const [row] = await ask(store, open).catch(() => []);
      return row !== undefined && Number(row.open) === 0;
    },
    patience,
  );
}
