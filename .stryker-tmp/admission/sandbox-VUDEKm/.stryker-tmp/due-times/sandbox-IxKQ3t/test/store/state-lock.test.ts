import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { acquireLock, readLockHolder } from "../../packages/core/src/store/sqlite/state-lock.ts";
import { startTestProgram } from "./test-program.ts";
import { onCleanup, tempFolder } from "./test-stores.ts";

test("refuses a second process and names the holder of the lock", () => {
  const folder = join(tempFolder(), ".herdctl");
  const lock = acquireLock(folder);
  onCleanup(() => lock.release());
  expect(readLockHolder(folder)?.pid).toBe(process.pid);
  expect(() => acquireLock(folder)).toThrow(
    expect.objectContaining({
      code: "fleet_running",
      exitCode: 3,
      message: expect.stringContaining(`process ${process.pid}, since 20`),
    }),
  );
  expect(() => acquireLock(folder)).toThrow(/already running/);
  const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
  expect(new Set(modes)).toEqual(new Set([0o600]));
});

test("grants a released lock again, and a second release does not free another holder's", () => {
  const folder = tempFolder();
  const first = acquireLock(folder);
  first.release();
  expect(readLockHolder(folder)).toBeUndefined();
  const second = acquireLock(folder);
  onCleanup(() => second.release());
  first.release();
  expect(() => acquireLock(folder)).toThrow(/already running/);
});

test("gives the lock to exactly one of several processes, and frees it after its kill -9", async () => {
  const folder = join(tempFolder(), ".herdctl");
  const racers = [1, 2, 3, 4].map(() => startTestProgram("hold-lock", folder));
  for (const racer of racers) expect(await racer.nextLine()).toBe("ready");
  for (const racer of racers) racer.child.stdin.write("go\n");
  const answers = await Promise.all(racers.map((racer) => racer.nextLine()));
  expect(answers.filter((answer) => answer === "locked")).toHaveLength(1);
  expect(answers.filter((answer) => answer.startsWith("refused UserError: A fleet"))).toHaveLength(
    3,
  );

  const winner = racers[answers.indexOf("locked")];
  expect(() => acquireLock(folder)).toThrow(new RegExp(`process ${winner?.child.pid},`));
  await winner?.kill();
  expect(readLockHolder(folder)).toBeUndefined();
  acquireLock(folder).release();
});

test("refuses although the holder cannot be named", () => {
  const folder = tempFolder();
  const lock = acquireLock(folder);
  onCleanup(() => lock.release());
  const holder = JSON.parse(readFileSync(join(folder, "herdctl.lock.json"), "utf8"));
  const dead = { ...holder, start_time: "1" };
  writeFileSync(join(folder, "herdctl.lock.json"), JSON.stringify(dead));
  expect(() => acquireLock(folder)).toThrow(/just starting or stopping/);
});

test("leaves a lock file with other content alone", () => {
  const folder = tempFolder();
  writeFileSync(join(folder, "herdctl.lock"), "my notes\n".repeat(200));
  expect(() => acquireLock(folder)).toThrow(expect.objectContaining({ code: "state_damaged" }));
  expect(readFileSync(join(folder, "herdctl.lock"), "utf8")).toMatch(/^my notes/);
});
