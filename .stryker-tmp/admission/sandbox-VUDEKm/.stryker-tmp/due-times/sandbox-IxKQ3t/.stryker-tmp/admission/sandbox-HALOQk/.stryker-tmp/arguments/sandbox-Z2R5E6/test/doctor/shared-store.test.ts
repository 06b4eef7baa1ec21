import { expect, test } from "vitest";
import { checkStore, evaluateStore } from "../../packages/core/src/doctor/fleet/store.ts";
import type { StoreInspection } from "../../packages/core/src/store/postgres/inspect-store.ts";
import { openPostgres } from "../../packages/core/src/store/postgres/open.ts";
import { createTestDatabase } from "../support/postgres.ts";
import { startSilentServer } from "../support/unresponsive-server.ts";

const healthyStore: StoreInspection = {
  address: "postgres://herd@db:5432/herd",
  database: "herd",
  user: "herd",
  server: "15.9",
  serverNumber: 15,
  encoding: "UTF8",
  isStandby: false,
  canCreateTables: true,
  isFresh: false,
  version: 1,
  latencyMs: 0.84,
  clockSkewMs: 12,
};

test.each<[string, Partial<StoreInspection>, string, string, RegExp]>([
  ["that is healthy", {}, "ok", "ok", /responds in 0.8 ms: PostgreSQL 15.9, schema version 1/],
  ["that is empty", { isFresh: true, version: 0 }, "ok", "ok", /still empty/],
  ["with a slow connection", { latencyMs: 80.2 }, "warning", "ok", /takes 80 ms to respond/],
  ["with another clock", { clockSkewMs: 4_200 }, "ok", "warning", /4.2 s ahead of/],
  ["with a clock of yesterday", { clockSkewMs: -86_400_000 }, "ok", "warning", /1440 min behind/],
  ["of an old version", { server: "12.20", serverNumber: 12 }, "failed", "", /needs 13 or newer/],
  ["with Latin-1 encoding", { encoding: "LATIN1" }, "failed", "", /encoding LATIN1/],
  ["that is a read-only replica", { isStandby: true }, "failed", "", /standby/],
  [
    "without permission to create tables",
    { isFresh: true, canCreateTables: false },
    "failed",
    "",
    /herd is not permitted to create tables/,
  ],
])("evaluates a store %s", (_, facts, store, clock, words) => {
  const findings = evaluateStore({ ...healthyStore, ...facts });
  const verdicts = findings.map(({ verdict }) => verdict);
  expect(verdicts).toEqual([store, clock].filter(Boolean));
  expect(findings.map(({ message }) => message).join("\n")).toMatch(words);
  for (const { verdict, hint } of findings) expect(hint === undefined).toBe(verdict === "ok");
});

test("checks a real store without changing it", async () => {
  const store = await createTestDatabase();
  const [fresh, clock] = await checkStore(store);
  expect([fresh, clock]).toMatchObject([{ verdict: "ok" }, { verdict: "ok" }]);
  expect(fresh?.message).toContain("still empty");
  expect((await checkStore(store))[0]?.message).toContain("still empty");
  await (await openPostgres(store)).close();
  expect((await checkStore(store))[0]?.message).toMatch(/schema version \d+/);
});

test("reports an unreachable or unresponsive store without its password", async () => {
  const nobody = await checkStore("postgres://herd:made-up-word@127.0.0.1:1/herd");
  expect(nobody).toMatchObject([{ name: "store", verdict: "failed", hint: expect.any(String) }]);
  expect(nobody[0]?.message).toMatch(/the connection was refused/);
  const { host } = new URL((await startSilentServer()).url);
  const silent = await checkStore(`postgres://herd:made-up-word@${host}/herd`);
  expect(silent[0]?.message).toMatch(/does not respond/);
  expect(JSON.stringify([nobody, silent])).not.toContain("made-up-word");
}, 60_000);
