import { chownSync, existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Fault } from "../../packages/core/src/testing/failpoints.ts";
import { consultOracle } from "../invariants/check-invariants.ts";
import type { Violation } from "../invariants/observed-run.ts";
import type { TestEngine } from "../support/docker-engine.ts";
import { containerUser } from "../support/docker-harness.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { createTestDatabase } from "../support/postgres.ts";
import type { RegisterCleanup } from "../support/temp-folder.ts";
import { freePort } from "../webhooks/webhook-harness.ts";
import { visibleContainerData } from "./exposed-process-data.ts";
import { anyKeeper, type FleetQuestioner, Keeper } from "./fleet-supervisor.ts";
import { clusterScript, script } from "./scripted-task.ts";
import {
  type PreparedTrigger,
  prepareTrigger,
  type TriggerKind,
  taskPrompt,
} from "./trigger-kinds.ts";

/**
 * Where the agent runs. `nodes`: one of two that share a store; a node that dies is restarted
 * immediately. `lost node`: the same, but it stays away until the other has taken over.
 */
export const places = ["host SDK", "host CLI", "Docker", "nodes", "lost node"] as const;
export type FaultPlace = (typeof places)[number];

export interface FaultCase {
  trigger: TriggerKind;
  place: FaultPlace;
  /** The faults, in order. */
  faults: Fault[];
}

export interface CaseResult {
  violations: Violation[];
  /** How many of the planned faults happened. */
  faultCount: number;
  deaths: number;
  attempts: number;
  outcome: string;
}

/** The final answer of the scripted model. */
const answerPattern = /^It is done/;
const canary = `sk-ant-api03-${"canary".repeat(8)}`;

/** Runs one trigger with these faults, and restarts the fleet until the job ends. */
export async function runCase(
  one: FaultCase,
  engine: TestEngine | undefined,
  onCleanup: RegisterCleanup,
): Promise<CaseResult> {
  const trigger = await prepareTrigger[one.trigger](onCleanup);
  const baseHarness = await startHarness(
    { script: isOnNodes(one) ? clusterScript : script },
    onCleanup,
  );
  if (one.place === "Docker")
    chownSync(baseHarness.workspace, containerUser.uid, containerUser.gid);
  const hooked = join(dirname(baseHarness.home), "hooked");
  const text = fleetConfigFor(one, trigger, hooked);
  const copies = isOnNodes(one) ? 2 : 1;
  const files = Array.from({ length: copies }, () =>
    writeFleetFile(baseHarness, text, undefined, undefined, onCleanup),
  );
  const [file = ""] = files;
  const plan = join(dirname(file), "faults.json");
  writeFileSync(plan, JSON.stringify(one.faults));
  const env = {
    ...baseHarness.env,
    ...trigger.env,
    ...(engine && { DOCKER_HOST: engine.dockerHost }),
    ANTHROPIC_API_KEY: canary,
    HERDCTL_FAULTS: plan,
  };
  const harness = { ...baseHarness, env };
  const observe = () =>
    engine && one.place === "Docker" ? visibleContainerData(engine, harness.workspace) : [];
  const store = isOnNodes(one) ? await createTestDatabase(onCleanup) : undefined;
  const downtimeMs = one.place === "lost node" ? takeoverMs : 0;
  const keepers: Keeper[] = [];
  for (const [index, each] of files.entries()) {
    const stands = store
      ? { ...harness, ...(await startAsNode(harness.env, each, index, store)) }
      : harness;
    keepers.push(new Keeper(stands, each, onCleanup, observe, downtimeMs));
  }
  const keeper = anyKeeper(keepers);
  for (const each of keepers) each.start();
  const id = await trigger.fire(keeper, files);
  const job = await waitForEnd(keeper, id);
  const happened = () => one.faults.filter((_, index) => existsSync(`${plan}.${index}`)).length;
  await waitForFaults(() => happened() === one.faults.length);
  await waitUntilSettled(keeper, id, trigger);
  // A node that is still away comes back first and finds its earlier state.
  for (const each of keepers) await each.ask("it to be up", (control) => control.status());
  for (const each of keepers) await each.stop();

  const { violations, cases } = await consultOracle({
    harness,
    file,
    accepted: new Map([[job.idempotency_key ?? "", id]]),
    taskText: () => taskPrompt,
    hookFile: hooked,
    shared: store === undefined ? undefined : { store, files },
    posts: trigger.readPosts?.(),
    answerPattern,
    engine: one.place === "Docker" ? engine : undefined,
    secrets: [canary, ...trigger.secrets],
    observedOutput: keepers.flatMap(({ observedOutput }) => observedOutput),
  });
  const attempts = cases[0]?.attempts.length ?? 0;
  const outcome = cases[0]?.job.outcome?.code ?? "none";
  const deaths = keepers.reduce((sum, each) => sum + each.deaths, 0);
  return { violations: violations, faultCount: happened(), deaths, attempts, outcome };
}

const retrySetting = "retry: { max_attempts: 9, backoff: 100ms }";

const runtimes: Record<FaultPlace, string[]> = {
  "host SDK": ["    runtime: sdk"],
  "host CLI": ["    runtime: cli"],
  Docker: ["    runtime: cli", "    docker: { enabled: true }"],
  nodes: ["    runtime: cli"],
  "lost node": ["    runtime: cli"],
};

/** Longer than it takes to declare a node lost and to settle its jobs. */
const takeoverMs = 14_000;

function isOnNodes({ place }: FaultCase): boolean {
  return place === "nodes" || place === "lost node";
}

/** Sessions stay on their machine, and each node listens on separate ports. */
async function startAsNode(
  env: Record<string, string>,
  file: string,
  index: number,
  store: string,
) {
  const own = {
    HERDCTL_STORE: store,
    CLAUDE_CONFIG_DIR: join(dirname(file), "claude"),
    ...(index > 0 && { HOOK_PORT: String(await freePort()) }),
  };
  return { env: { ...env, ...own }, flags: ["--node-name", `n${index + 1}`] };
}

function fleetConfigFor(one: FaultCase, { agent, fleet }: PreparedTrigger, hooked: string): string {
  const hook = `{ type: shell, command: 'echo "$HERDCTL_JOB" >> ${hooked}', ${retrySetting} }`;
  return [
    "  - name: one",
    ...runtimes[one.place],
    `    ${retrySetting}`,
    `    hooks: { after_run: [${hook}] }`,
    ...agent,
    ...fleet,
    ...(isOnNodes(one) ? ["store: ${HERDCTL_STORE}"] : []),
  ].join("\n");
}

async function waitForEnd(keeper: FleetQuestioner, id: string) {
  return keeper.ask("the end of the job", async (control) => {
    const job = (await control.jobs.get(id))?.job;
    if (!job?.finished_at) throw new Error("not yet");
    return job;
  });
}

/**
 * Some faults come after the end of the job or after a slow restart. A fault that never comes is
 * reported, not waited for.
 */
async function waitForFaults(observe: () => boolean): Promise<void> {
  await waitUntil("the faults", async () => observe(), 20_000).catch(() => undefined);
}

/** Waits until hooks and answers are finished. */
async function waitUntilSettled(
  keeper: FleetQuestioner,
  id: string,
  { readPosts }: PreparedTrigger,
): Promise<void> {
  await keeper.ask("the hook and the answer", async (control) => {
    const [hook] = await control.hooks.list({ job: id, limit: 1 });
    const isHooked = hook?.status === "succeeded" || hook?.status === "failed";
    const links = await control.chat.connections();
    const isSilent = links.every(
      ({ state, active_conversations: working }) => state === "connected" && working === 0,
    );
    const isAnswered = readPosts?.().every((text) => answerPattern.test(text)) ?? true;
    if (!isHooked || !isSilent || !isAnswered) throw new Error("not yet");
  });
}
