import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyMcpConfig } from "../../packages/core/src/docker/workspace-guard.ts";
import { describeStartupFiles } from "../../packages/core/src/runner/keep-alive/startup-files.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const files = {
  "CLAUDE.md": "See @docs/rules.md and `@not-this` and @~/none.md and @/etc/hostname",
  "docs/rules.md": "More in @deeper.md",
  "docs/deeper.md": "the end",
  ".claude/settings.json": "{}",
  ".claude/skills/one/SKILL.md": "how",
  "work/file.ts": "",
};

function stamps() {
  const folder = tempFolderWith(files);
  const stamp = () => describeStartupFiles(join(folder, "work"), join(folder, "config"));
  return { folder, stamp, before: stamp() };
}

test("includes every file that claude reads at start: in parents, by import, and in folders", () => {
  const { folder, before } = stamps();
  const read = before
    .split("\n")
    .map((line) => line.split(" ")[0] ?? "")
    .filter((path) => path.startsWith(folder));
  expect(read.map((path) => path.slice(folder.length + 1))).toEqual([
    "CLAUDE.md",
    "docs/rules.md",
    "docs/deeper.md",
    ".claude/settings.json",
    ".claude/skills",
    ".claude/skills/one",
    ".claude/skills/one/SKILL.md",
  ]);
  expect(before).toContain("/etc/hostname ");
});

test.each(Object.keys(files).slice(0, 5))("changes with another %s", (name) => {
  const { folder, stamp, before } = stamps();
  expect(stamp()).toBe(before);
  writeFileSync(join(folder, name), "something else that is longer or shorter");
  expect(stamp()).not.toBe(before);
});

test("ignores files that claude does not read, and treats a placeholder as no file", () => {
  const { folder, stamp, before } = stamps();
  writeFileSync(join(folder, "work/file.ts"), "changed");
  writeFileSync(join(folder, "work/.mcp.json"), emptyMcpConfig);
  expect(stamp()).toBe(before);
  writeFileSync(join(folder, "work/.mcp.json"), '{ "mcpServers": { "a": {} } }');
  expect(stamp()).not.toBe(before);
});

test("stops at circular imports", () => {
  const folder = tempFolderWith({ "CLAUDE.md": "@CLAUDE.md @CLAUDE.md" });
  mkdirSync(join(folder, "work"));
  const read = describeStartupFiles(join(folder, "work"), join(folder, "config")).split("\n");
  expect(read.length).toBeLessThan(2_100);
});
