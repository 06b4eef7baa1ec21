import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { markIfUntrusted } from "../../packages/core/src/fleet/tool-calls/untrusted-input.ts";
import { createStores } from "../../packages/core/src/store/sql/stores.ts";
import { SqliteDatabase } from "../../packages/core/src/store/sqlite/database.ts";
import { createSchema, migrations } from "../../packages/core/src/store/sqlite/migrations.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

/** Returns `untrusted` of a job with this place and these tools. */
async function hasUntrustedInput({
  place = "cli",
  tools = [],
  resumed_from,
}: {
  place?: "cli" | "docker";
  tools?: string[];
  resumed_from?: string;
}): Promise<boolean> {
  const folder = tempFolderWith({});
  const database = new SqliteDatabase(":memory:");
  createSchema(database, migrations);
  const outputFile = (id: string) => join(folder, `${id}.jsonl`);
  const state = createStores(database, {
    clock: () => new Date(),
    outputFile,
    isAlive: () => true,
    isNodeGone: () => false,
  });
  const { job } = await state.jobs.create({ agent: "one", prompt: "x", resumed_from });
  await state.jobs.update(job.id, { status: "running", session_home: place });
  const lines = tools.map((name) => ({
    type: "assistant",
    message: { content: [{ type: "tool_use", name }] },
  }));
  writeFileSync(outputFile(job.id), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const { untrusted } = await markIfUntrusted(state, job.id);
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
])("marks an agent that used %s as untrusted", async (tool) => {
  expect(await hasUntrustedInput({ tools: ["mcp__herd__report", tool] })).toBe(true);
});

test("trusts an agent that used only tools that bring nothing in", async () => {
  expect(
    await hasUntrustedInput({ tools: ["mcp__herd__delegate", "mcp__herd__ask", "TodoWrite"] }),
  ).toBe(false);
});

test("marks an agent in Docker as untrusted, whatever its log contains", async () => {
  expect(await hasUntrustedInput({ place: "docker" })).toBe(true);
});

test("marks an agent that resumes a session as untrusted", async () => {
  expect(await hasUntrustedInput({ resumed_from: "session-1" })).toBe(true);
});
