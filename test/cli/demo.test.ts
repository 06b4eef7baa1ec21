import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "../support/folder.ts";
import { checkout, endOf, ownEnv } from "./herdctl.ts";

function demo(temp: string) {
  const env = ownEnv({ TMPDIR: temp });
  return spawn(process.execPath, [join(checkout, "scripts/demo.mjs")], { cwd: temp, env });
}

test("the demo runs three agents of different kinds, shows them at work, and leaves nothing behind", async () => {
  const temp = folderWith({});
  const { code, stdout } = await endOf(demo(temp));
  expect(stdout.match(/✓ success/g)?.length).toBeGreaterThanOrEqual(3);
  for (const shown of [
    "✗ expected 6, found 5",
    "✓ every price counts",
    "The report is in report.md.",
  ]) {
    expect(stdout).toContain(shown);
  }
  expect(stdout).toMatch(/herdctl trigger fixer --resume job-/);
  expect(stdout).toMatch(/\$0\.\d+/);
  expect(stdout).toContain("The bug is fixed");
  expect(code).toBe(0);
  expect(readdirSync(temp)).toEqual([]);
});

test("interrupted, the demo fails and still leaves nothing behind", async () => {
  const temp = folderWith({});
  const child = demo(temp);
  child.stdout.on("data", (text) => {
    if (String(text).includes("session")) child.kill("SIGINT");
  });
  const { code, stdout } = await endOf(child);
  expect(code).toBe(1);
  expect(stdout).toContain("The demo failed");
  expect(readdirSync(temp)).toEqual([]);
});
