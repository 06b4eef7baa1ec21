import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { folderWith } from "../support/folder.ts";
import { processesWith } from "../support/processes.ts";
import { endOf, ownEnv, program } from "./herdctl.ts";

function demo(temp: string) {
  const env = ownEnv({ TMPDIR: temp });
  return spawn(program, ["demo"], { cwd: temp, env });
}

test("the demo kills its fleet in the middle of the work, loses nothing, and leaves nothing behind", async () => {
  const temp = folderWith({});
  const { code, stdout } = await endOf(demo(temp));
  for (const agent of ["tester", "fixer", "reporter"]) {
    expect(stdout).toMatch(new RegExp(`job-\\S+ +${agent} +✓ success`));
  }
  expect(stdout).toContain("kill -9");
  expect(stdout).toContain("three jobs, each run once");
  expect(stdout).toMatch(/herdctl trigger fixer --resume job-/);
  expect(stdout).toMatch(/\$0\.\d+/);
  expect(stdout).toMatch(/dashboard.*http:\/\/127\.0\.0\.1:\d+\/\S+/);
  // Said once it is true, and so the last word.
  expect(stdout).toMatch(/\nNothing is left behind\..*\n$/);
  expect(code).toBe(0);
  expect(readdirSync(temp)).toEqual([]);
  expect(processesWith(temp)).toEqual([]);
});

test("interrupted, the demo fails and still leaves nothing behind", async () => {
  const temp = folderWith({});
  const child = demo(temp);
  child.stdout.on("data", (text) => {
    if (String(text).includes("started")) child.kill("SIGINT");
  });
  const { code, stdout } = await endOf(child);
  expect(code).toBe(1);
  expect(stdout).toContain("The demo failed");
  expect(readdirSync(temp)).toEqual([]);
  expect(processesWith(temp)).toEqual([]);
});
