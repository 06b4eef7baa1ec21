import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { StateManager } from "@herdctl/core/internal";
import { expect, onTestFinished, test } from "vitest";
import { sessionFilePath } from "../../packages/core/src/claude/session-files/session-file-path.ts";
import { readPriorAttempts } from "../../packages/core/src/jobs/attempts/session-plan.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const task = "Tidy the shed";
const oneMinuteFromNow = () => new Date(Date.now() + 60_000).toISOString();
const transcriptLine = (type: string, content: unknown, more: object = {}) => ({
  ...{ type, uuid: randomUUID(), sessionId: "s", timestamp: oneMinuteFromNow() },
  message: { role: type, content },
  ...more,
});
const text = (words: string) => [{ type: "text", text: words }];
const prompt = (words: string | object[]) => transcriptLine("user", words);
const reply = () => transcriptLine("assistant", text("On it."));
const summary = { type: "system", subtype: "compact_boundary", uuid: "b", sessionId: "s" };

/** The trace of a job whose attempt got this far in its session. */
async function traceAfter(lines: readonly object[] | undefined, end: object = {}) {
  const folder = tempFolderWith({ "work/README.md": "" });
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
  return await readPriorAttempts({ state, job: now, home });
}

test.each<[string, readonly object[] | undefined, object]>([
  ["an empty session", undefined, { messageCount: 0, hasTask: false }],
  ["the task as text", [prompt(task), reply()], { messageCount: 2, hasTask: true }],
  ["the task in blocks", [prompt(text(`${task}, please`))], { messageCount: 1, hasTask: true }],
  ["another prompt", [prompt("Hello")], { messageCount: 1, hasTask: false }],
  [
    "a task that was compacted to a summary",
    [prompt(task), reply(), { ...summary, timestamp: oneMinuteFromNow() }, reply()],
    { messageCount: 3, hasTask: false },
  ],
  [
    "lines from before the job",
    [transcriptLine("user", task, { timestamp: "2020-01-01T00:00:00.000Z" })],
    { messageCount: 0, hasTask: false },
  ],
  [
    "a line without a time",
    [transcriptLine("user", task, { timestamp: undefined })],
    { messageCount: 0 },
  ],
])("finds the trace of %s", async (_, lines, found) => {
  expect(await traceAfter(lines)).toMatchObject({
    sessionId: "s",
    lastOutcome: "interrupted",
    ...found,
  });
});

test("includes how the last attempt ended", async () => {
  const trace = await traceAfter([prompt(task)], { outcome_code: "overloaded" });
  expect(trace).toMatchObject({ lastOutcome: "overloaded", messageCount: 1 });
});

test("finds no trace of a job that never started", async () => {
  const state = await new StateManager(join(tempFolderWith({}), "state")).open();
  onTestFinished(() => state.close());
  const { job } = await state.jobs.create({ agent: "one", prompt: task });
  const home = { place: "cli" as const, cwd: "/", configDir: "/" };
  expect(await readPriorAttempts({ state, job, home })).toBeUndefined();
});
