import { spawn } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { StateManager } from "@herdctl/core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Database } from "../../packages/core/src/state/sqlite/database.ts";
import { consultOracle } from "../oracle/oracle.ts";
import type { Story, WrongKind } from "../oracle/story.ts";
import { fleetFile } from "../support/fleet-process.ts";
import { fleetProgram, until } from "../support/fleet-program.ts";
import { stage } from "../support/stage.ts";

const secret = "sk-the-canary-of-the-oracle";
const work = { tools: [{ name: "Bash", input: { command: 'echo "$HERDCTL_JOB" >> effects' } }] };

interface Planted {
  story: Story;
  id: string;
  stateDir: string;
}

const closing: (() => void | Promise<void>)[] = [];
let good: Planted;

/** One job that went well, in a fleet that has stopped. */
beforeAll(async () => {
  const whenOver = (step: () => void | Promise<void>) => void closing.unshift(step);
  const on = await stage({ script: { rules: [{ replies: [work, "Done."] }] } }, whenOver);
  const hook = `{ type: shell, command: 'echo "$HERDCTL_JOB" >> hooked' }`;
  const agent = `  - { name: one, runtime: cli, hooks: { after_run: [${hook}] } }`;
  const file = fleetFile(on, agent, undefined, undefined, whenOver);
  const fleet = await fleetProgram(on, file, whenOver);
  const request = { trigger: "manual" as const, agent: "one", prompt: "Do it.", key: "it" };
  const { job } = await fleet.control.trigger(request);
  await fleet.control.wait(job.id);
  await until("its hook", async () => {
    return (await fleet.control.hooks({ limit: 1 }))[0]?.status === "succeeded";
  });
  await fleet.stop();
  const story: Story = { on, file, accepted: new Map([["it", job.id]]), secrets: [secret] };
  good = { story, id: job.id, stateDir: join(dirname(file), ".herdctl") };
  for (const folder of foldersOf(good)) cpSync(folder, kept(folder), { recursive: true });
}, 300_000);

afterAll(async () => {
  for (const step of closing) await step();
});

/** The same story, as it was before anything was planted. */
function goodStory(): Planted {
  for (const folder of foldersOf(good)) {
    rmSync(folder, { recursive: true });
    cpSync(kept(folder), folder, { recursive: true });
  }
  const { story, id } = good;
  writeFileSync(join(dirname(story.file), "hooked"), `${id}\n`);
  const accepted = new Map(story.accepted);
  return { ...good, story: { ...story, accepted, hooked: "hooked", posts: ["Done."] } };
}

function foldersOf({ stateDir, story }: Planted): string[] {
  return [stateDir, story.on.workspace, story.on.configDir];
}

function kept(folder: string): string {
  return `${folder}-kept`;
}

async function inState(stateDir: string, change: (state: StateManager) => Promise<unknown>) {
  const state = await new StateManager(stateDir).open();
  await change(state);
  await state.close();
}

function sql(stateDir: string, text: string): void {
  const database = new Database(join(stateDir, "herd.db"));
  database.exec(text);
  database.close();
}

/** Faults of a fleet, planted by hand, and what the oracle must call them. */
const plants: [string, WrongKind, (planted: Planted) => unknown][] = [
  [
    "an effect that is there twice",
    "doubled",
    ({ story, id }) => appendFileSync(join(story.on.workspace, "effects"), `${id}\n`),
  ],
  [
    "a hook that ran more often than is on record",
    "doubled",
    ({ story, id }) => appendFileSync(join(dirname(story.file), "hooked"), `${id}\n`),
  ],
  ["an answer too many", "doubled", ({ story }) => story.posts?.push("Done.")],
  [
    "a job that nobody asked for",
    "doubled",
    ({ stateDir }) =>
      inState(stateDir, (state) => state.jobs.create({ agent: "one", prompt: "again" })),
  ],
  ["no effect", "lost", ({ story }) => writeFileSync(join(story.on.workspace, "effects"), "")],
  [
    "a trigger that was accepted and is not on record",
    "lost",
    ({ story }) => story.accepted.set("gone", "job-2020-01-01-gone00"),
  ],
  [
    "an attempt that never ends",
    "lost",
    ({ stateDir, story }) =>
      inState(stateDir, async (state) => {
        const { job } = await state.jobs.create({
          agent: "one",
          prompt: "Do it.",
          idempotency_key: "two",
        });
        await state.jobs.startAttempt(job.id, { due_at: null });
        story.accepted.set("two", job.id);
      }),
  ],
  ["no answer", "lost", ({ story }) => void story.posts?.splice(0)],
  [
    "a refusal in place of an answer",
    "lost",
    ({ story }) => {
      story.answer = /nothing of the kind/;
    },
  ],
  [
    "an orphan",
    "left",
    ({ story, id }) => {
      const child = spawn("sleep", ["60"], { env: { ...story.on.env, HERDCTL_JOB: id } });
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
    ({ story }) => writeFileSync(join(story.on.configDir, "t.jsonl"), `{"key":"${secret}"}\n`),
  ],
  [
    "a secret on a command line",
    "secret",
    ({ story }) => {
      story.glimpses = [`claude --key ${secret}`];
    },
  ],
  [
    "a state that is cut short",
    "damaged",
    ({ stateDir }) => writeFileSync(join(stateDir, "herd.db"), "SQLite format 3\0 and no more"),
  ],
  [
    "a reference that leads nowhere",
    "damaged",
    ({ stateDir, id }) =>
      sql(stateDir, `PRAGMA foreign_keys = OFF; DELETE FROM jobs WHERE id = '${id}'`),
  ],
];

test("the oracle finds nothing wrong with a job that went well", async () => {
  const { story } = goodStory();
  expect((await consultOracle(story)).wrong).toEqual([]);
});

test.each(plants)("the oracle sees %s: %s", async (_, kind, plant) => {
  const planted = goodStory();
  await plant(planted);
  const { wrong } = await consultOracle(planted.story, 0);
  expect(wrong.map((one) => one.kind)).toContain(kind);
});
