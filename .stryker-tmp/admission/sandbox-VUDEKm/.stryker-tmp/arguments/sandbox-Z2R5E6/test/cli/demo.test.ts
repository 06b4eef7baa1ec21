import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { minimalEnv, program, waitForExit } from "./run-herdctl.ts";

function demo(temp: string) {
  const env = minimalEnv({ TMPDIR: temp });
  return spawn(program, ["demo"], { cwd: temp, env });
}

test("kills the fleet midway in the demo, loses no work and leaves nothing behind", async () => {
  const temp = tempFolderWith({});
  const { code, stdout } = await waitForExit(demo(temp));
  for (const agent of ["tester", "fixer", "reporter"]) {
    expect(stdout).toMatch(new RegExp(`job-\\S+ +${agent} +✓ success`));
  }
  expect(stdout).toContain("kill -9");
  expect(stdout).toContain("Each of the three jobs ran exactly once");
  expect(stdout).toMatch(/herdctl trigger fixer --resume job-/);
  expect(stdout).toMatch(/\$0\.\d+/);
  expect(stdout).toMatch(/Dashboard.*http:\/\/127\.0\.0\.1:\d+\/\S+/);
  // This must be the last line, after the cleanup.
  expect(stdout).toMatch(/\nThe demo has removed its files\..*\n$/);
  expect(code).toBe(0);
  expect(readdirSync(temp)).toEqual([]);
  expect(processesWithMarker(temp)).toEqual([]);
});

test("fails an interrupted demo and still leaves nothing behind", async () => {
  const temp = tempFolderWith({});
  const child = demo(temp);
  child.stdout.on("data", (text) => {
    if (String(text).includes("started")) child.kill("SIGINT");
  });
  const { code, stdout } = await waitForExit(child);
  expect(code).toBe(1);
  expect(stdout).toContain("The demo failed");
  expect(readdirSync(temp)).toEqual([]);
  expect(processesWithMarker(temp)).toEqual([]);
});
