import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  isHeld,
  makeLiveFolder,
  sweepLiveFolders,
} from "../../packages/core/src/runner/live/live-folder.ts";
import { currentProcess } from "../../packages/core/src/state/process-identity.ts";
import { folderWith } from "../support/folder.ts";

const dead = { ...currentProcess(), start_time: "1" };

function left(stateDir: string, runToken: string, holder?: string): string {
  const folder = join(stateDir, "live", runToken);
  mkdirSync(folder, { recursive: true });
  if (holder !== undefined) writeFileSync(join(folder, "runner.json"), holder);
  return folder;
}

test("what a living runner holds stays; what a dead one left goes", async () => {
  const stateDir = folderWith({});
  makeLiveFolder(stateDir, "job-1.1");
  left(stateDir, "job-2.1", JSON.stringify(dead));
  expect(isHeld(stateDir, "job-1.1")).toBe(true);
  expect(isHeld(stateDir, "job-2.1")).toBe(false);
  await sweepLiveFolders(stateDir);
  expect(readdirSync(join(stateDir, "live"))).toEqual(["job-1.1"]);
});

test.each([
  ["no name", undefined],
  ["half a name", '{"pid":'],
])("a folder with %s in it may be about to get one, but not for long", async (_, holder) => {
  const stateDir = folderWith({});
  const folder = left(stateDir, "job-1.1", holder);
  await sweepLiveFolders(stateDir);
  expect(existsSync(folder)).toBe(true);
  const before = new Date(Date.now() - 60_000);
  utimesSync(folder, before, before);
  await sweepLiveFolders(stateDir);
  expect(existsSync(folder)).toBe(false);
});

test("nobody holds what is not there, and there is nothing to sweep", async () => {
  const stateDir = folderWith({});
  expect(isHeld(stateDir, "job-1.1")).toBe(false);
  await sweepLiveFolders(stateDir);
  expect(readdirSync(stateDir)).toEqual([]);
});
