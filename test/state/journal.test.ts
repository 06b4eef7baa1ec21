import { execFileSync } from "node:child_process";
import {
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Database } from "../../packages/core/src/state/sqlite/database.ts";
import { StateManager } from "../../packages/core/src/state/state-manager.ts";
import { onCleanup, tempFolder } from "./support.ts";

const jobCount = 20;

/** As a process leaves it that is killed: what was written last is in the journal alone. */
async function leftBehind(prepare: (file: string) => void = () => undefined): Promise<string> {
  const folder = join(tempFolder(), ".herdctl");
  const state = await new StateManager(folder).open();
  onCleanup(() => state.close());
  for (let n = 0; n < jobCount; n++) await state.jobs.create({ agent: "coder", prompt: `${n}` });
  prepare(join(folder, "herd.db"));
  const copy = join(tempFolder(), ".herdctl");
  execFileSync("cp", ["-r", folder, copy]);
  return copy;
}

async function jobsOf(folder: string): Promise<number> {
  const state = await new StateManager(folder).open();
  onCleanup(() => state.close());
  return (await state.jobs.unfinished()).length;
}

function bytesIn(folder: string): [name: string, bytes: string][] {
  return readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "latin1")]);
}

const journalOf = (folder: string) => join(folder, "herd.db-wal");

function change(share: number): (journal: string) => void {
  return (journal) => {
    const bytes = readFileSync(journal);
    const at = Math.floor(bytes.length * share);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0x5a, at);
    writeFileSync(journal, bytes);
  };
}

function zero(count: number): (journal: string) => void {
  return (journal) => writeFileSync(journal, readFileSync(journal).fill(0, 0, count));
}

function cut(share: number): (journal: string) => void {
  return (journal) => truncateSync(journal, Math.floor(readFileSync(journal).length * share));
}

test("a journal as a killed process leaves it is read to its end", async () => {
  expect(await jobsOf(await leftBehind())).toBe(jobCount);
});

test.each([
  ["changed in its first bytes", change(0)],
  ["overwritten with zeros in its first bytes", zero(64)],
  ["changed in the middle", change(0.5)],
  ["changed in its last page", change(0.999)],
  ["cut off in the middle", cut(0.5)],
  ["cut off before its last page", cut(0.999)],
  ["emptied", cut(0)],
  ["removed", rmSync],
])("a state whose journal was %s is refused, nothing changed", async (_, damage) => {
  const folder = await leftBehind();
  damage(journalOf(folder));
  const before = bytesIn(folder);
  await expect(new StateManager(folder).open()).rejects.toMatchObject({
    code: "state_damaged",
    message: expect.stringMatching(/its journal has lost \d+ of \d+ pages/),
  });
  expect(bytesIn(folder)).toEqual(before);
});

test("a journal that is folded in may be gone", async () => {
  const folder = await leftBehind((file) => {
    const database = new Database(file);
    database.exec("PRAGMA wal_checkpoint(FULL)");
    database.close();
  });
  rmSync(journalOf(folder));
  expect(await jobsOf(folder)).toBe(jobCount);
});

test.each([
  ["is from before the machine was started", (index: string) => utimesSync(index, 0, 0)],
  ["was removed by a person who would rather go on", rmSync],
])("where the index of the journal %s, what is left counts", async (_, alter) => {
  const folder = await leftBehind();
  cut(0.9)(journalOf(folder));
  alter(join(folder, "herd.db-shm"));
  const left = await jobsOf(folder);
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(jobCount);
});
