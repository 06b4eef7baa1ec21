import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Memory } from "../../packages/core/src/state/memory.ts";
import { folderWith } from "../support/folder.ts";
import { logOf, runJob, stateDirOf } from "../support/job.ts";
import { obedientStage, obey, toolResults } from "../support/runtime.ts";
import { sliceOf } from "../support/width.ts";

const memory = (input: object) => obey(["mcp__herd__memory", input]);

describe.each(sliceOf(["cli", "sdk"], 1))("runtime: %s", (runtime) => {
  const yaml = `runtime: ${runtime}\npermission_mode: dontAsk\ntools: [memory]`;

  test("what one run notes, a later session reads, finds and deletes; people read it as a file", async () => {
    const on = await obedientStage();
    const text = "# Release\nRun the *slow* tests first.\n";
    const first = await runJob(on, {
      yaml,
      prompt: memory({ action: "write", name: "release-steps", text }),
    });
    expect(first.job).toMatchObject({ outcome: { code: "success" }, warnings: [] });
    const folder = join(stateDirOf(on), "memory", "one");
    expect(readFileSync(join(folder, "release-steps.md"), "utf8")).toBe(text);

    writeFileSync(join(folder, "by-hand.md"), "Written by a person.");
    const { job } = await runJob(on, {
      yaml,
      prompt: [
        memory({ action: "list" }),
        memory({ action: "read", name: "release-steps" }),
        memory({ action: "search", words: "SLOW tests" }),
        memory({ action: "search", words: "fast tests" }),
        memory({ action: "read", name: "by-hand" }),
        memory({ action: "delete", name: "release-steps" }),
        obey(["mcp__herd__memory", { action: "read", name: "release-steps", words: "again" }]),
      ].join("\n\n"),
    });
    const said = toolResults(await logOf(job));
    const [list, read, found, missed, byHand, deleted, gone] = said;
    expect(list).toMatch(/by-hand.*release-steps/s);
    expect(read).toContain("Run the *slow* tests first.");
    expect(found).toContain("release-steps");
    expect(missed).toContain("No note holds these words");
    expect(byHand).toContain("Written by a person.");
    expect(deleted).toContain("Deleted");
    expect(gone).toContain("There is no note");
    expect(existsSync(join(folder, "release-steps.md"))).toBe(false);
    expect(readdirSync(join(folder, ".history", "release-steps"))).toHaveLength(1);
  });

  test("no name leads out of the agent's own notes", async () => {
    const on = await obedientStage();
    const names = ["../two/x", "/etc/passwd", ".history", "a/b", "A", "x".repeat(65), ""];
    const prompt = names
      .map((name) => memory({ action: "write", name, text: "x" }))
      .concat(memory({ action: "read", name: "../../herd.db" }))
      .join("\n\n");
    const { job } = await runJob(on, { yaml, prompt });
    for (const said of toolResults(await logOf(job))) expect(said).toMatch(/no name|no note/);
    expect(existsSync(join(stateDirOf(on), "memory"))).toBe(false);
    expect(job.warnings).toHaveLength(names.length + 1);
  });
});

describe("notes", () => {
  test("earlier versions stay for a while, also of what a person wrote", async () => {
    const folder = folderWith({});
    const own = new Memory(folder);
    await own.write("a", "1");
    writeFileSync(join(folder, "a.md"), "by a person");
    for (let n = 2; n < 10; n++) await own.write("a", String(n));
    expect(versionsOf(folder)).toEqual(["1", "by a person", ..."23456789"]);
    await own.write("a", "10");
    expect(versionsOf(folder)).toEqual(["by a person", ..."23456789", "10"]);
    expect(await own.read("a")).toBe("10");
  });

  test("the versions stay in their order though the clock went back", async () => {
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().replaceAll(":", "-");
    const folder = folderWith({ [`.history/a/${tomorrow}-ffffff.md`]: "1", "a.md": "1" });
    const own = new Memory(folder);
    for (const text of ["2", "3", "4"]) await own.write("a", text);
    expect(versionsOf(folder)).toEqual(["1", "2", "3", "4"]);
  });

  test("two that write at once leave whole notes, and both versions", async () => {
    const folder = folderWith({});
    const texts = Array.from({ length: 8 }, (_, n) => String(n).repeat(8_000));
    await Promise.all(texts.map((text) => new Memory(folder).write("a", text)));
    const now = await new Memory(folder).read("a");
    expect(texts).toContain(now);
    const kept = readdirSync(join(folder, ".history/a"));
    const all = kept.map((file) => readFileSync(join(folder, ".history/a", file), "utf8"));
    expect(new Set(all)).toEqual(new Set(texts));
    expect(readdirSync(folder).sort()).toEqual([".history", "a.md"]);
  });

  test("they are small, and not too many", async () => {
    const own = new Memory(folderWith({}));
    expect(await own.write("a", "x".repeat(16 * 1024 + 1))).toMatchObject({ kind: "refused" });
    for (let n = 0; n < 200; n++) writeFileSync(join(own.folder, `n${n}.md`), "x");
    expect(await own.write("a", "x")).toEqual({
      kind: "refused",
      reason: "there are 200 notes, which is the most; delete some first",
    });
    expect(await own.write("n7", "again")).toEqual({ kind: "noted" });
  });
});

function versionsOf(folder: string): string[] {
  return readdirSync(join(folder, ".history/a"))
    .sort()
    .map((file) => readFileSync(join(folder, ".history/a", file), "utf8"));
}
