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
import { stage } from "../support/stage.ts";
import { containersSeen } from "./glimpse.ts";
import { Keeper } from "./keeper.ts";
import { script } from "./task.ts";
import { prepare, type Trigger, type TriggerKind, task } from "./trigger-kinds.ts";

export const places = ["host SDK", "host CLI", "Docker"] as const;
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
  const staged = await stage({ script }, whenOver);
  if (one.place === "Docker") chownSync(staged.workspace, insider.uid, insider.gid);
  const file = fleetFile(staged, agentOf(one, trigger), undefined, undefined, whenOver);
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
  const keeper = new Keeper(on, file, whenOver, () =>
    engine && one.place === "Docker" ? containersSeen(engine, on.workspace) : [],
  );
  keeper.start();
  const id = await trigger.pull(keeper, file);
  const job = await ended(keeper, id);
  const happened = () => one.faults.filter((_, index) => existsSync(`${plan}.${index}`)).length;
  await allHappened(() => happened() === one.faults.length);
  await settled(keeper, id, trigger);
  await keeper.stop();

  const { wrong, cases } = await consultOracle({
    on,
    file,
    accepted: new Map([[job.idempotency_key ?? "", id]]),
    task: () => task,
    hooked: "hooked",
    posts: trigger.posts?.(),
    answer,
    engine: one.place === "Docker" ? engine : undefined,
    secrets: [canary, ...trigger.secrets],
    glimpses: keeper.glimpses,
  });
  const attempts = cases[0]?.attempts.length ?? 0;
  const outcome = cases[0]?.job.outcome?.code ?? "none";
  return { wrong, happened: happened(), deaths: keeper.deaths, attempts, outcome };
}

const patience = "retry: { max_attempts: 9, backoff: 100ms }";

const runtimes: Record<PlaceName, string[]> = {
  "host SDK": ["    runtime: sdk"],
  "host CLI": ["    runtime: cli"],
  Docker: ["    runtime: cli", "    docker: { enabled: true }"],
};

function agentOf({ place }: FaultCase, { agent, fleet }: Trigger): string {
  const hook = `{ type: shell, command: 'echo "$HERDCTL_JOB" >> hooked', ${patience} }`;
  return [
    "  - name: one",
    ...runtimes[place],
    `    ${patience}`,
    `    hooks: { after_run: [${hook}] }`,
    ...agent,
    ...fleet,
  ].join("\n");
}

async function ended(keeper: Keeper, id: string) {
  return keeper.ask("the end of the job", async (control) => {
    const job = (await control.job(id))?.job;
    if (!job?.finished_at) throw new Error("not yet");
    return job;
  });
}

/** Some come after the end of the job. One that never comes is told, not waited for. */
async function allHappened(look: () => boolean): Promise<void> {
  await until("the faults", async () => look(), 5_000).catch(() => undefined);
}

/** Hooks and answers are done with. */
async function settled(keeper: Keeper, id: string, { posts }: Trigger): Promise<void> {
  await keeper.ask("the hook and the answer", async (control) => {
    const [hook] = await control.hooks({ jobId: id, limit: 1 });
    const isHooked = hook?.status === "succeeded" || hook?.status === "failed";
    const links = await control.chat();
    const isSilent = links.every(({ state, working }) => state === "connected" && working === 0);
    const isAnswered = posts?.().every((text) => answer.test(text)) ?? true;
    if (!isHooked || !isSilent || !isAnswered) throw new Error("not yet");
  });
}
