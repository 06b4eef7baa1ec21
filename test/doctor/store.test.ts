import { expect, test } from "vitest";
import { checkStore, judgeStore } from "../../packages/core/src/doctor/fleet/store.ts";
import type { StoreFacts } from "../../packages/core/src/state/postgres/look-at-store.ts";
import { openPostgres } from "../../packages/core/src/state/postgres/open.ts";
import { testDatabase } from "../support/postgres.ts";
import { silentServer } from "../support/silent-server.ts";

const well: StoreFacts = {
  address: "postgres://herd@db:5432/herd",
  database: "herd",
  user: "herd",
  server: "15.9",
  serverNumber: 15,
  encoding: "UTF8",
  isStandby: false,
  mayCreate: true,
  isFresh: false,
  version: 1,
  latencyMs: 0.84,
  skewMs: 12,
};

test.each<[string, Partial<StoreFacts>, string, string, RegExp]>([
  ["that is well", {}, "ok", "ok", /answers in 0.8 ms: PostgreSQL 15.9, state of version 1/],
  ["that is new", { isFresh: true, version: 0 }, "ok", "ok", /nothing is in it yet/],
  ["far away", { latencyMs: 80.2 }, "warning", "ok", /takes 80 ms to answer/],
  ["with another clock", { skewMs: 4_200 }, "ok", "warning", /4.2 s ahead of/],
  ["with a clock of yesterday", { skewMs: -86_400_000 }, "ok", "warning", /1440 min behind/],
  ["of old", { server: "12.20", serverNumber: 12 }, "failed", "", /needs 13 or newer/],
  ["in Latin", { encoding: "LATIN1" }, "failed", "", /kept in LATIN1/],
  ["that only follows", { isStandby: true }, "failed", "", /standby/],
  ["that is closed", { isFresh: true, mayCreate: false }, "failed", "", /herd may not make tables/],
])("a store %s", (_, facts, store, clock, words) => {
  const findings = judgeStore({ ...well, ...facts });
  const verdicts = findings.map(({ verdict }) => verdict);
  expect(verdicts).toEqual([store, clock].filter(Boolean));
  expect(findings.map(({ message }) => message).join("\n")).toMatch(words);
  for (const { verdict, hint } of findings) expect(hint === undefined).toBe(verdict === "ok");
});

test("a real one is looked at and left as it was", async () => {
  const store = await testDatabase();
  const [fresh, clock] = await checkStore(store);
  expect([fresh, clock]).toMatchObject([{ verdict: "ok" }, { verdict: "ok" }]);
  expect(fresh?.message).toContain("nothing is in it yet");
  expect((await checkStore(store))[0]?.message).toContain("nothing is in it yet");
  await (await openPostgres(store)).close();
  expect((await checkStore(store))[0]?.message).toMatch(/state of version \d+/);
});

test("one that is not there, or does not answer, is told without its password", async () => {
  const nobody = await checkStore("postgres://herd:made-up-word@127.0.0.1:1/herd");
  expect(nobody).toMatchObject([{ name: "store", verdict: "failed", hint: expect.any(String) }]);
  expect(nobody[0]?.message).toMatch(/nobody listens/);
  const { host } = new URL((await silentServer()).url);
  const silent = await checkStore(`postgres://herd:made-up-word@${host}/herd`);
  expect(silent[0]?.message).toMatch(/does not answer/);
  expect(JSON.stringify([nobody, silent])).not.toContain("made-up-word");
}, 60_000);
