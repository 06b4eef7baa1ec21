import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { noServers } from "../../packages/core/src/runner/container/workspace-guard.ts";
import { stampFilesRead } from "../../packages/core/src/runner/live/files-read.ts";
import { folderWith } from "../support/folder.ts";

const files = {
  "CLAUDE.md": "See @docs/rules.md and `@not-this` and @~/none.md and @/etc/hostname",
  "docs/rules.md": "More in @deeper.md",
  "docs/deeper.md": "the end",
  ".claude/settings.json": "{}",
  ".claude/skills/one/SKILL.md": "how",
  "work/file.ts": "",
};

function stamps() {
  const folder = folderWith(files);
  const stamp = () => stampFilesRead(join(folder, "work"), join(folder, "config"));
  return { folder, stamp, before: stamp() };
}

test("all that a claude reads at its start is in it: from above, imported, and in folders", () => {
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

test.each(Object.keys(files).slice(0, 5))("another %s is another stamp", (name) => {
  const { folder, stamp, before } = stamps();
  expect(stamp()).toBe(before);
  writeFileSync(join(folder, name), "something else that is longer or shorter");
  expect(stamp()).not.toBe(before);
});

test("what claude does not read changes nothing, and a placeholder says what none says", () => {
  const { folder, stamp, before } = stamps();
  writeFileSync(join(folder, "work/file.ts"), "changed");
  writeFileSync(join(folder, "work/.mcp.json"), noServers);
  expect(stamp()).toBe(before);
  writeFileSync(join(folder, "work/.mcp.json"), '{ "mcpServers": { "a": {} } }');
  expect(stamp()).not.toBe(before);
});

test("imports that lead in a circle come to an end", () => {
  const folder = folderWith({ "CLAUDE.md": "@CLAUDE.md @CLAUDE.md" });
  mkdirSync(join(folder, "work"));
  const read = stampFilesRead(join(folder, "work"), join(folder, "config")).split("\n");
  expect(read.length).toBeLessThan(2_100);
});
