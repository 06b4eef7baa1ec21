import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { acquireLock, lockHolder } from "../../packages/core/src/state/lock.ts";
import { onCleanup, startProgram, tempFolder } from "./support.ts";

test("a second comer is refused and told who holds the lock", () => {
  const folder = join(tempFolder(), ".herdctl");
  const lock = acquireLock(folder);
  onCleanup(() => lock.release());
  expect(lockHolder(folder)?.pid).toBe(process.pid);
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

test("a released lock can be taken again, and releasing twice frees nobody else's", () => {
  const folder = tempFolder();
  const first = acquireLock(folder);
  first.release();
  expect(lockHolder(folder)).toBeUndefined();
  const second = acquireLock(folder);
  onCleanup(() => second.release());
  first.release();
  expect(() => acquireLock(folder)).toThrow(/already running/);
});

test("of processes that race for the lock exactly one gets it, and its kill -9 frees it", async () => {
  const folder = join(tempFolder(), ".herdctl");
  const racers = [1, 2, 3, 4].map(() => startProgram("hold-lock", folder));
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
  expect(lockHolder(folder)).toBeUndefined();
  acquireLock(folder).release();
});

test("a holder that cannot be named is still refused for", () => {
  const folder = tempFolder();
  const lock = acquireLock(folder);
  onCleanup(() => lock.release());
  const holder = JSON.parse(readFileSync(join(folder, "herdctl.lock.json"), "utf8"));
  const dead = { ...holder, start_time: "1" };
  writeFileSync(join(folder, "herdctl.lock.json"), JSON.stringify(dead));
  expect(() => acquireLock(folder)).toThrow(/just starting or stopping/);
});

test("a lock file that is something else is not touched", () => {
  const folder = tempFolder();
  writeFileSync(join(folder, "herdctl.lock"), "my notes\n".repeat(200));
  expect(() => acquireLock(folder)).toThrow(expect.objectContaining({ code: "state_damaged" }));
  expect(readFileSync(join(folder, "herdctl.lock"), "utf8")).toMatch(/^my notes/);
});
