import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { currentProcess } from "../../packages/core/src/lib/process-identity.ts";
import {
  isRunTokenInUse,
  makeKeepAliveFolder,
  removeStaleKeepAliveFolders,
} from "../../packages/core/src/runner/contract/keep-alive-folder.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const deadProcess = { ...currentProcess(), start_time: "1" };

function leaveFolder(stateDir: string, runToken: string, holder?: string): string {
  const folder = join(stateDir, "live", runToken);
  mkdirSync(folder, { recursive: true });
  if (holder !== undefined) writeFileSync(join(folder, "runner.json"), holder);
  return folder;
}

test("keeps folders of live runners and removes those of dead ones", async () => {
  const stateDir = tempFolderWith({});
  makeKeepAliveFolder(stateDir, "job-1.1");
  leaveFolder(stateDir, "job-2.1", JSON.stringify(deadProcess));
  expect(isRunTokenInUse(stateDir, "job-1.1")).toBe(true);
  expect(isRunTokenInUse(stateDir, "job-2.1")).toBe(false);
  await removeStaleKeepAliveFolders(stateDir);
  expect(readdirSync(join(stateDir, "live"))).toEqual(["job-1.1"]);
});

test.each([
  ["no marker file", undefined],
  ["an incomplete marker file", '{"pid":'],
])("keeps a folder with %s for a short time", async (_, holder) => {
  const stateDir = tempFolderWith({});
  const folder = leaveFolder(stateDir, "job-1.1", holder);
  await removeStaleKeepAliveFolders(stateDir);
  expect(existsSync(folder)).toBe(true);
  const before = new Date(Date.now() - 60_000);
  utimesSync(folder, before, before);
  await removeStaleKeepAliveFolders(stateDir);
  expect(existsSync(folder)).toBe(false);
});

test("accepts a missing folder", async () => {
  const stateDir = tempFolderWith({});
  expect(isRunTokenInUse(stateDir, "job-1.1")).toBe(false);
  await removeStaleKeepAliveFolders(stateDir);
  expect(readdirSync(stateDir)).toEqual([]);
});
