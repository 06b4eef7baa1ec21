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

test("the demo shows the tool call and the reply, and leaves nothing behind", async () => {
  const temp = folderWith({});
  const { code, stdout } = await endOf(demo(temp));
  expect(stdout).toContain("runs Bash: ls -1");
  expect(stdout).toContain("apples.txt, pears.txt");
  expect(stdout).toContain("I have listed the files.");
  expect(code).toBe(0);
  expect(readdirSync(temp)).toEqual([]);
});

test("interrupted, the demo fails and still leaves nothing behind", async () => {
  const temp = folderWith({});
  const child = demo(temp);
  child.stdout.once("data", () => child.kill("SIGINT"));
  const { code, stdout } = await endOf(child);
  expect(code).toBe(1);
  expect(stdout).toContain("No reply came");
  expect(readdirSync(temp)).toEqual([]);
});
