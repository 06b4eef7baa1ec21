import { spawn } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { StateManager } from "@herdctl/core/internal";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { SqliteDatabase } from "../../packages/core/src/store/sqlite/database.ts";
import { startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { consultOracle } from "./check-invariants.ts";
import type { ObservedRun, ViolationKind } from "./observed-run.ts";

const secret = "sk-the-canary-of-the-oracle";
const workReply = {
  tools: [{ name: "Bash", input: { command: 'echo "$HERDCTL_JOB" >> effects' } }],
};

interface PlantedRun {
  run: ObservedRun;
  id: string;
  stateDir: string;
}

const cleanupSteps: (() => void | Promise<void>)[] = [];
let goodRun: PlantedRun;

/** One successful job, in a fleet that has stopped. */
beforeAll(async () => {
  const onCleanup = (step: () => void | Promise<void>) => void cleanupSteps.unshift(step);
  const harness = await startHarness(
    { script: { rules: [{ replies: [workReply, "Done."] }] } },
    onCleanup,
  );
  const hook = `{ type: shell, command: 'echo "$HERDCTL_JOB" >> hooked' }`;
  const agent = `  - { name: one, runtime: cli, hooks: { after_run: [${hook}] } }`;
  const file = writeFleetFile(harness, agent, undefined, undefined, onCleanup);
  const fleet = await startFleetProcess(harness, file, onCleanup);
  const request = { agent: "one", prompt: "Do it.", key: "it" };
  const { job } = await fleet.control.jobs.trigger(request);
  await fleet.control.jobs.wait(job.id);
  await waitUntil("its hook", async () => {
    return (await fleet.control.hooks.list({ limit: 1 }))[0]?.status === "succeeded";
  });
  await fleet.stop();
  const run: ObservedRun = {
    harness,
    file,
    accepted: new Map([["it", job.id]]),
    secrets: [secret],
  };
  goodRun = { run, id: job.id, stateDir: join(dirname(file), ".herdctl") };
  for (const folder of foldersOf(goodRun)) cpSync(folder, copyState(folder), { recursive: true });
}, 300_000);

afterAll(async () => {
  for (const step of cleanupSteps) await step();
});

/** Restores the files from before the violation was planted. */
function createGoodRun(): PlantedRun {
  for (const folder of foldersOf(goodRun)) {
    rmSync(folder, { recursive: true });
    cpSync(copyState(folder), folder, { recursive: true });
  }
  const { run, id } = goodRun;
  writeFileSync(join(dirname(run.file), "hooked"), `${id}\n`);
  const accepted = new Map(run.accepted);
  return { ...goodRun, run: { ...run, accepted, hookFile: "hooked", posts: ["Done."] } };
}

function foldersOf({ stateDir, run }: PlantedRun): string[] {
  return [stateDir, run.harness.workspace, run.harness.configDir];
}

function copyState(folder: string): string {
  return `${folder}-kept`;
}

async function changeState(stateDir: string, change: (state: StateManager) => Promise<unknown>) {
  const state = await new StateManager(stateDir).open();
  await change(state);
  await state.close();
}

function sql(stateDir: string, text: string): void {
  const database = new SqliteDatabase(join(stateDir, "herd.db"));
  database.exec(text);
  database.close();
}

/** Planted violations, and the kind that the oracle must report. */
const violationCases: [string, ViolationKind, (planted: PlantedRun) => unknown][] = [
  [
    "a duplicate effect",
    "doubled",
    ({ run, id }) => appendFileSync(join(run.harness.workspace, "effects"), `${id}\n`),
  ],
  [
    "a hook that ran more often than recorded",
    "doubled",
    ({ run, id }) => appendFileSync(join(dirname(run.file), "hooked"), `${id}\n`),
  ],
  ["an extra answer", "doubled", ({ run }) => run.posts?.push("Done.")],
  [
    "a job without a trigger",
    "doubled",
    ({ stateDir }) =>
      changeState(stateDir, (state) => state.jobs.create({ agent: "one", prompt: "again" })),
  ],
  [
    "a missing effect",
    "lost",
    ({ run }) => writeFileSync(join(run.harness.workspace, "effects"), ""),
  ],
  [
    "an accepted trigger without a job",
    "lost",
    ({ run }) => run.accepted.set("gone", "job-2020-01-01-gone00"),
  ],
  [
    "an attempt that never ends",
    "lost",
    ({ stateDir, run }) =>
      changeState(stateDir, async (state) => {
        const { job } = await state.jobs.create({
          agent: "one",
          prompt: "Do it.",
          idempotency_key: "two",
        });
        await state.jobs.startAttempt(job.id, { due_at: null });
        run.accepted.set("two", job.id);
      }),
  ],
  ["a missing answer", "lost", ({ run }) => void run.posts?.splice(0)],
  [
    "a refusal instead of an answer",
    "lost",
    ({ run }) => {
      run.answerPattern = /nothing of the kind/;
    },
  ],
  [
    "an orphan process",
    "left",
    ({ run, id }) => {
      const child = spawn("sleep", ["60"], { env: { ...run.harness.env, HERDCTL_JOB: id } });
      onTestFinished(() => void child.kill("SIGKILL"));
    },
  ],
  [
    "a socket",
    "left",
    ({ stateDir, id }) => writeFileSync(join(stateDir, "jobs", id, "runner.sock"), ""),
  ],
  [
    "a draft",
    "left",
    ({ stateDir, id }) => writeFileSync(join(stateDir, "jobs", id, ".outcome.json.0123"), "{}"),
  ],
  [
    "a folder of a run",
    "left",
    ({ stateDir, id }) => mkdirSync(join(stateDir, "jobs", id, "private")),
  ],
  [
    "a secret in a log",
    "secret",
    ({ stateDir, id }) =>
      appendFileSync(join(stateDir, "jobs", id, "stderr.log"), `key: ${secret}\n`),
  ],
  [
    "a secret in a transcript",
    "secret",
    ({ run }) => writeFileSync(join(run.harness.configDir, "t.jsonl"), `{"key":"${secret}"}\n`),
  ],
  [
    "a secret on a command line",
    "secret",
    ({ run }) => {
      run.observedOutput = [`claude --key ${secret}`];
    },
  ],
  [
    "a truncated database",
    "damaged",
    ({ stateDir }) => writeFileSync(join(stateDir, "herd.db"), "SQLite format 3\0 and no more"),
  ],
  [
    "a dangling reference",
    "damaged",
    ({ stateDir, id }) =>
      sql(stateDir, `PRAGMA foreign_keys = OFF; DELETE FROM jobs WHERE id = '${id}'`),
  ],
];

test("reports nothing for a successful job", async () => {
  const { run } = createGoodRun();
  expect((await consultOracle(run)).violations).toEqual([]);
});

test.each(violationCases)("reports %s as %s", async (_, kind, plant) => {
  const planted = createGoodRun();
  await plant(planted);
  const { violations } = await consultOracle(planted.run, 0);
  expect(violations.map((one) => one.kind)).toContain(kind);
});
