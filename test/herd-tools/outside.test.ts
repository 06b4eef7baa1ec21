import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { noteOutside } from "../../packages/core/src/fleet/errands/outside.ts";
import { makeStores } from "../../packages/core/src/state/sql/stores.ts";
import { Database } from "../../packages/core/src/state/sqlite/database.ts";
import { migrateNew, migrations } from "../../packages/core/src/state/sqlite/migrations.ts";
import { folderWith } from "../support/folder.ts";

/** Whether a job counts as one that read text from outside, by its place and the tools it used. */
async function isTainted({
  place = "cli",
  tools = [],
  resumed_from,
}: {
  place?: "cli" | "docker";
  tools?: string[];
  resumed_from?: string;
}): Promise<boolean> {
  const folder = folderWith({});
  const database = new Database(":memory:");
  migrateNew(database, migrations);
  const outputFile = (id: string) => join(folder, `${id}.jsonl`);
  const state = makeStores(database, {
    clock: () => new Date(),
    outputFile,
    isAlive: () => true,
    isNodeGone: () => false,
  });
  const { job } = await state.jobs.create({ agent: "one", prompt: "x", resumed_from });
  await state.jobs.update(job.id, { status: "running", place });
  const lines = tools.map((name) => ({
    type: "assistant",
    message: { content: [{ type: "tool_use", name }] },
  }));
  writeFileSync(outputFile(job.id), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const { untrusted } = await noteOutside(state, job.id);
  expect((await state.jobs.get(job.id))?.untrusted).toBe(untrusted);
  database.close();
  return untrusted;
}

test.each([
  "Bash",
  "Read",
  "Grep",
  "Glob",
  "Edit",
  "Task",
  "WebFetch",
  "mcp__other__x",
  "mcp__herd__memory",
  "NewTool",
])("an agent that used %s may have read text from outside", async (tool) => {
  expect(await isTainted({ tools: ["mcp__herd__report", tool] })).toBe(true);
});

test("an agent that used only tools that bring nothing in has not", async () => {
  expect(await isTainted({ tools: ["mcp__herd__delegate", "mcp__herd__ask", "TodoWrite"] })).toBe(
    false,
  );
});

test("an agent in Docker always may have, whatever its log says", async () => {
  expect(await isTainted({ place: "docker" })).toBe(true);
});

test("an agent that goes on with an earlier session may have", async () => {
  expect(await isTainted({ resumed_from: "session-1" })).toBe(true);
});
