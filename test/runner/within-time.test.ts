import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { withinTime } from "../../packages/core/src/runner/within-time.ts";

const ended = (limit: AbortSignal) =>
  new Promise<string>((resolve) =>
    limit.addEventListener("abort", () => resolve("ended"), { once: true }),
  );

test("the time ends though memory is tidied meanwhile", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const outcome = withinTime(new AbortController().signal, 300, ended);
  for (let round = 0; round < 5; round++) {
    await pause(20);
    collect();
  }
  expect(await Promise.race([outcome, pause(5_000, "still waiting")])).toBe("ended");
});

test("the signal ends it before the time, with its reason", async () => {
  const own = new AbortController();
  const outcome = withinTime(own.signal, 60_000, async (limit) => {
    await ended(limit);
    return limit.reason;
  });
  own.abort("no longer asked for");
  expect(await outcome).toBe("no longer asked for");
});

test("a signal that was over before leaves no time at all", async () => {
  const isOver = await withinTime(AbortSignal.abort(), 60_000, async (limit) => limit.aborted);
  expect(isOver).toBe(true);
});

test("what was done in time is not ended later", async () => {
  const own = new AbortController();
  const limit = await withinTime(own.signal, 10, async (given) => given);
  own.abort();
  await pause(30);
  expect(limit.aborted).toBe(false);
});
