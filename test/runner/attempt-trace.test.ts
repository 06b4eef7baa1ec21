import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { StateManager } from "@herdctl/core";
import { expect, onTestFinished, test } from "vitest";
import { traceOf } from "../../packages/core/src/runner/attempt-trace.ts";
import { sessionFilePath } from "../../packages/core/src/runner/runtime/session-file/path.ts";
import { folderWith } from "../support/folder.ts";

const task = "Tidy the shed";
const later = () => new Date(Date.now() + 60_000).toISOString();
const said = (type: string, content: unknown, more: object = {}) => ({
  ...{ type, uuid: randomUUID(), sessionId: "s", timestamp: later() },
  message: { role: type, content },
  ...more,
});
const text = (words: string) => [{ type: "text", text: words }];
const prompt = (words: string | object[]) => said("user", words);
const reply = () => said("assistant", text("On it."));
const summary = { type: "system", subtype: "compact_boundary", uuid: "b", sessionId: "s" };

/** A job whose attempt got this far in its session. */
async function after(lines: readonly object[] | undefined, end: object = {}) {
  const folder = folderWith({ "work/README.md": "" });
  const state = await new StateManager(join(folder, "state")).open();
  onTestFinished(() => state.close());
  const { job } = await state.jobs.create({ agent: "one", prompt: task });
  await state.jobs.startAttempt(job.id, { session_id: "s" });
  const home = { place: "cli" as const, cwd: join(folder, "work"), configDir: join(folder, "c") };
  if (lines) {
    const file = sessionFilePath(home, "s");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }
  const ended = { outcome_code: null, session_id: "s", cost_usd: null, ...end };
  const { job: now } = await state.jobs.endAttempt(job.id, 1, ended, { status: "waiting" });
  return await traceOf({ state, job: now, home });
}

test.each<[string, readonly object[] | undefined, object]>([
  ["a session that was never written to", undefined, { messages: 0, holdsTask: false }],
  ["the task, as text", [prompt(task), reply()], { messages: 2, holdsTask: true }],
  ["the task among blocks", [prompt(text(`${task}, please`))], { messages: 1, holdsTask: true }],
  ["another prompt", [prompt("Hello")], { messages: 1, holdsTask: false }],
  [
    "the task, of which only a summary is left",
    [prompt(task), reply(), { ...summary, timestamp: later() }, reply()],
    { messages: 3, holdsTask: false },
  ],
  [
    "what was said before the job",
    [said("user", task, { timestamp: "2020-01-01T00:00:00.000Z" })],
    { messages: 0, holdsTask: false },
  ],
  ["a line without a time", [said("user", task, { timestamp: undefined })], { messages: 0 }],
])("a trace of %s", async (_, lines, found) => {
  expect(await after(lines)).toMatchObject({ sessionId: "s", ended: "interrupted", ...found });
});

test("how the last attempt ended is part of it", async () => {
  const trace = await after([prompt(task)], { outcome_code: "overloaded" });
  expect(trace).toMatchObject({ ended: "overloaded", messages: 1 });
});

test("a job that never began has none", async () => {
  const state = await new StateManager(join(folderWith({}), "state")).open();
  onTestFinished(() => state.close());
  const { job } = await state.jobs.create({ agent: "one", prompt: task });
  const home = { place: "cli" as const, cwd: "/", configDir: "/" };
  expect(await traceOf({ state, job, home })).toBeUndefined();
});
