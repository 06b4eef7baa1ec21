import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AgentMemory } from "../../packages/core/src/store/files/agent-memory.ts";
import { readJobMessages, runJob, stateDirOf } from "../support/run-job.ts";
import {
  startObedientHarness,
  toolCallPrompt,
  toolResultTexts,
} from "../support/runtimes-under-test.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { testSubset } from "../support/test-subset.ts";

const memoryPrompt = (input: object) => toolCallPrompt(["mcp__herd__memory", input]);

describe.each(testSubset(["cli", "sdk"], 1))("runtime: %s", (runtime) => {
  const yaml = `runtime: ${runtime}\npermission_mode: dontAsk\ntools: [memory]`;

  test("lets a later session read, find and delete the notes of an earlier run, stored as plain files", async () => {
    const harness = await startObedientHarness();
    const text = "# Release\nRun the *slow* tests first.\n";
    const first = await runJob(harness, {
      yaml,
      prompt: memoryPrompt({ action: "write", name: "release-steps", text }),
    });
    expect(first.job).toMatchObject({ outcome: { code: "success" }, warnings: [] });
    const folder = join(stateDirOf(harness), "memory", "one");
    expect(readFileSync(join(folder, "release-steps.md"), "utf8")).toBe(text);

    writeFileSync(join(folder, "by-hand.md"), "Written by a person.");
    const { job } = await runJob(harness, {
      yaml,
      prompt: [
        memoryPrompt({ action: "list" }),
        memoryPrompt({ action: "read", name: "release-steps" }),
        memoryPrompt({ action: "search", words: "SLOW tests" }),
        memoryPrompt({ action: "search", words: "fast tests" }),
        memoryPrompt({ action: "read", name: "by-hand" }),
        memoryPrompt({ action: "delete", name: "release-steps" }),
        toolCallPrompt([
          "mcp__herd__memory",
          { action: "read", name: "release-steps", words: "again" },
        ]),
      ].join("\n\n"),
    });
    const toolResults = toolResultTexts(await readJobMessages(job));
    const [list, read, found, missed, byHand, deleted, gone] = toolResults;
    expect(list).toMatch(/by-hand.*release-steps/s);
    expect(read).toContain("Run the *slow* tests first.");
    expect(found).toContain("release-steps");
    expect(missed).toContain("No note contains these words");
    expect(byHand).toContain("Written by a person.");
    expect(deleted).toContain("Deleted");
    expect(gone).toContain("There is no note");
    expect(existsSync(join(folder, "release-steps.md"))).toBe(false);
    expect(readdirSync(join(folder, ".history", "release-steps"))).toHaveLength(1);
  });

  test("refuses note names that lead outside the agent's own folder", async () => {
    const harness = await startObedientHarness();
    const names = ["../two/x", "/etc/passwd", ".history", "a/b", "A", "x".repeat(65), ""];
    const prompt = names
      .map((name) => memoryPrompt({ action: "write", name, text: "x" }))
      .concat(memoryPrompt({ action: "read", name: "../../herd.db" }))
      .join("\n\n");
    const { job } = await runJob(harness, { yaml, prompt });
    for (const result of toolResultTexts(await readJobMessages(job)))
      expect(result).toMatch(/not a valid note name|no note/);
    expect(existsSync(join(stateDirOf(harness), "memory"))).toBe(false);
    expect(job.warnings).toHaveLength(names.length + 1);
  });
});

describe("agent notes", () => {
  test("keeps earlier versions for a while, also of notes that a person wrote", async () => {
    const folder = tempFolderWith({});
    const own = new AgentMemory(folder);
    await own.write("a", "1");
    writeFileSync(join(folder, "a.md"), "by a person");
    for (let n = 2; n < 10; n++) await own.write("a", String(n));
    expect(listVersions(folder)).toEqual(["1", "by a person", ..."23456789"]);
    await own.write("a", "10");
    expect(listVersions(folder)).toEqual(["by a person", ..."23456789", "10"]);
    expect(await own.read("a")).toBe("10");
  });

  test("keeps versions in order after the clock went back", async () => {
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().replaceAll(":", "-");
    const folder = tempFolderWith({ [`.history/a/${tomorrow}-ffffff.md`]: "1", "a.md": "1" });
    const own = new AgentMemory(folder);
    for (const text of ["2", "3", "4"]) await own.write("a", text);
    expect(listVersions(folder)).toEqual(["1", "2", "3", "4"]);
  });

  test("keeps whole notes and both versions when two writers write concurrently", async () => {
    const folder = tempFolderWith({});
    const texts = Array.from({ length: 8 }, (_, n) => String(n).repeat(8_000));
    await Promise.all(texts.map((text) => new AgentMemory(folder).write("a", text)));
    const now = await new AgentMemory(folder).read("a");
    expect(texts).toContain(now);
    const kept = readdirSync(join(folder, ".history/a"));
    const all = kept.map((file) => readFileSync(join(folder, ".history/a", file), "utf8"));
    expect(new Set(all)).toEqual(new Set(texts));
    expect(readdirSync(folder).sort()).toEqual([".history", "a.md"]);
  });

  test("limits the size and the number of notes", async () => {
    const own = new AgentMemory(tempFolderWith({}));
    expect(await own.write("a", "x".repeat(16 * 1024 + 1))).toMatchObject({ kind: "refused" });
    for (let n = 0; n < 200; n++) writeFileSync(join(own.folder, `n${n}.md`), "x");
    expect(await own.write("a", "x")).toEqual({
      kind: "refused",
      reason: "the limit of 200 notes is reached; delete some first",
    });
    expect(await own.write("n7", "again")).toEqual({ kind: "noted" });
  });
});

function listVersions(folder: string): string[] {
  return readdirSync(join(folder, ".history/a"))
    .sort()
    .map((file) => readFileSync(join(folder, ".history/a", file), "utf8"));
}
