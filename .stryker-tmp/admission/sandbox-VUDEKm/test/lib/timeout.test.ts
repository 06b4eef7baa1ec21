import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { waitForAbort, withTimeout } from "../../packages/core/src/lib/timeout.ts";

test("fires although garbage collection runs meanwhile", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const outcome = withTimeout(new AbortController().signal, 300, async (limit) => {
    await waitForAbort(limit);
    return "ended";
  });
  for (let round = 0; round < 5; round++) {
    await pause(20);
    collect();
  }
  expect(await Promise.race([outcome, pause(5_000, "still waiting")])).toBe("ended");
});

test("ends early with the signal's reason", async () => {
  const own = new AbortController();
  const outcome = withTimeout(own.signal, 60_000, async (limit) => {
    await waitForAbort(limit);
    return limit.reason;
  });
  own.abort("no longer asked for");
  expect(await outcome).toBe("no longer asked for");
});

test("ends immediately with an aborted signal", async () => {
  const isOver = await withTimeout(AbortSignal.abort(), 60_000, async (limit) => limit.aborted);
  expect(isOver).toBe(true);
});

test("does not abort finished work later", async () => {
  const own = new AbortController();
  const limit = await withTimeout(own.signal, 10, async (given) => given);
  own.abort();
  await pause(30);
  expect(limit.aborted).toBe(false);
});

test("waiting for an abort resolves for a signal that is already aborted", async () => {
  await expect(waitForAbort(AbortSignal.abort())).resolves.toBeUndefined();
});
