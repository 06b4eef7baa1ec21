import { chownSync, existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Fault } from "../../packages/core/src/faults/fail-point.ts";
import { consultOracle } from "../oracle/oracle.ts";
import type { Wrong } from "../oracle/story.ts";
import { insider } from "../support/container.ts";
import type { TestEngine } from "../support/engine.ts";
import { fleetFile } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import type { WhenOver } from "../support/folder.ts";
import { testDatabase } from "../support/postgres.ts";
import { stage } from "../support/stage.ts";
import { freePort } from "../webhooks/hook-stage.ts";
import { containersSeen } from "./glimpse.ts";
import { type Asked, anyOf, Keeper } from "./keeper.ts";
import { script, scriptOfNodes } from "./task.ts";
import { prepare, type Trigger, type TriggerKind, task } from "./trigger-kinds.ts";

/**
 * Where the agent runs. `nodes`: one of two that share a store, and whichever dies is started again
 * at once. `lost node`: the same, but it stays away until the other has taken over.
 */
export const places = ["host SDK", "host CLI", "Docker", "nodes", "lost node"] as const;
export type PlaceName = (typeof places)[number];

export interface FaultCase {
  trigger: TriggerKind;
  place: PlaceName;
  /** One after the other. */
  faults: Fault[];
}

export interface CaseResult {
  wrong: Wrong[];
  /** How many of its faults happened. */
  happened: number;
  deaths: number;
  attempts: number;
  outcome: string;
}

/** What the model of the task says at its end. */
const answer = /^It is done/;
const canary = `sk-ant-api03-${"canary".repeat(8)}`;

/** A fleet with these faults before it, one trigger, and as many starts as it takes to its end. */
export async function runCase(
  one: FaultCase,
  engine: TestEngine | undefined,
  whenOver: WhenOver,
): Promise<CaseResult> {
  const trigger = await prepare[one.trigger](whenOver);
  const staged = await stage({ script: isOnNodes(one) ? scriptOfNodes : script }, whenOver);
  if (one.place === "Docker") chownSync(staged.workspace, insider.uid, insider.gid);
  const hooked = join(dirname(staged.home), "hooked");
  const text = agentOf(one, trigger, hooked);
  const copies = isOnNodes(one) ? 2 : 1;
  const files = Array.from({ length: copies }, () =>
    fleetFile(staged, text, undefined, undefined, whenOver),
  );
  const [file = ""] = files;
  const plan = join(dirname(file), "faults.json");
  writeFileSync(plan, JSON.stringify(one.faults));
  const env = {
    ...staged.env,
    ...trigger.env,
    ...(engine && { DOCKER_HOST: engine.dockerHost }),
    ANTHROPIC_API_KEY: canary,
    HERDCTL_FAULTS: plan,
  };
  const on = { ...staged, env };
  const look = () => (engine && one.place === "Docker" ? containersSeen(engine, on.workspace) : []);
  const store = isOnNodes(one) ? await testDatabase(whenOver) : undefined;
  const away = one.place === "lost node" ? untilTakenOver : 0;
  const keepers: Keeper[] = [];
  for (const [index, each] of files.entries()) {
    const stands = store ? { ...on, ...(await asNode(on.env, each, index, store)) } : on;
    keepers.push(new Keeper(stands, each, whenOver, look, away));
  }
  const keeper = anyOf(keepers);
  for (const each of keepers) each.start();
  const id = await trigger.pull(keeper, files);
  const job = await ended(keeper, id);
  const happened = () => one.faults.filter((_, index) => existsSync(`${plan}.${index}`)).length;
  await allHappened(() => happened() === one.faults.length);
  await settled(keeper, id, trigger);
  // One that is still away comes back first, and finds what it left.
  for (const each of keepers) await each.ask("it to be up", (control) => control.status());
  for (const each of keepers) await each.stop();

  const { wrong, cases } = await consultOracle({
    on,
    file,
    accepted: new Map([[job.idempotency_key ?? "", id]]),
    task: () => task,
    hooked,
    shared: store === undefined ? undefined : { store, files },
    posts: trigger.posts?.(),
    answer,
    engine: one.place === "Docker" ? engine : undefined,
    secrets: [canary, ...trigger.secrets],
    glimpses: keepers.flatMap(({ glimpses }) => glimpses),
  });
  const attempts = cases[0]?.attempts.length ?? 0;
  const outcome = cases[0]?.job.outcome?.code ?? "none";
  const deaths = keepers.reduce((sum, each) => sum + each.deaths, 0);
  return { wrong, happened: happened(), deaths, attempts, outcome };
}

const patience = "retry: { max_attempts: 9, backoff: 100ms }";

const runtimes: Record<PlaceName, string[]> = {
  "host SDK": ["    runtime: sdk"],
  "host CLI": ["    runtime: cli"],
  Docker: ["    runtime: cli", "    docker: { enabled: true }"],
  nodes: ["    runtime: cli"],
  "lost node": ["    runtime: cli"],
};

/** Longer than it takes until a node counts as lost and what it left is settled. */
const untilTakenOver = 14_000;

function isOnNodes({ place }: FaultCase): boolean {
  return place === "nodes" || place === "lost node";
}

/** Sessions lie on the machine where they were made, and each has ports of its own. */
async function asNode(env: Record<string, string>, file: string, index: number, store: string) {
  const own = {
    HERDCTL_STORE: store,
    CLAUDE_CONFIG_DIR: join(dirname(file), "claude"),
    ...(index > 0 && { HOOK_PORT: String(await freePort()) }),
  };
  return { env: { ...env, ...own }, flags: ["--node-name", `n${index + 1}`] };
}

function agentOf(one: FaultCase, { agent, fleet }: Trigger, hooked: string): string {
  const hook = `{ type: shell, command: 'echo "$HERDCTL_JOB" >> ${hooked}', ${patience} }`;
  return [
    "  - name: one",
    ...runtimes[one.place],
    `    ${patience}`,
    `    hooks: { after_run: [${hook}] }`,
    ...agent,
    ...fleet,
    ...(isOnNodes(one) ? ["store: ${HERDCTL_STORE}"] : []),
  ].join("\n");
}

async function ended(keeper: Asked, id: string) {
  return keeper.ask("the end of the job", async (control) => {
    const job = (await control.job(id))?.job;
    if (!job?.finished_at) throw new Error("not yet");
    return job;
  });
}

/**
 * Some come after the end of the job, and after a start of the fleet, which takes its time where
 * many do so at once. One that never comes is told, not waited for.
 */
async function allHappened(look: () => boolean): Promise<void> {
  await until("the faults", async () => look(), 20_000).catch(() => undefined);
}

/** Hooks and answers are done with. */
async function settled(keeper: Asked, id: string, { posts }: Trigger): Promise<void> {
  await keeper.ask("the hook and the answer", async (control) => {
    const [hook] = await control.hooks({ jobId: id, limit: 1 });
    const isHooked = hook?.status === "succeeded" || hook?.status === "failed";
    const links = await control.chat();
    const isSilent = links.every(({ state, working }) => state === "connected" && working === 0);
    const isAnswered = posts?.().every((text) => answer.test(text)) ?? true;
    if (!isHooked || !isSilent || !isAnswered) throw new Error("not yet");
  });
}
