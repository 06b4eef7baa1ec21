import { expect, test } from "vitest";
import { type AuditEntry, hashAuditRecord } from "../../packages/core/src/state/audit.ts";
import { run } from "../../packages/core/src/state/sql/steps.ts";
import { verifyAudit } from "../../packages/core/src/state/verify-audit.ts";
import { newStores } from "./support.ts";

const entry = (target: string, more: Partial<AuditEntry> = {}): AuditEntry => ({
  identity: "user:kim",
  origin: "socket",
  action: "job.trigger",
  target,
  outcome: "ok",
  error: null,
  details: { agent: "coder" },
  ...more,
});

async function logOf(count: number) {
  const stores = await newStores();
  for (let number = 1; number <= count; number += 1)
    await stores.audit.append(entry(`job-${number}`));
  const { database, audit } = stores;
  /** As someone would who can write to the database. */
  const tamper = async (...statements: string[]) => {
    const unlock = database.dialect.nodes
      ? ["ALTER TABLE audit_log DISABLE TRIGGER USER"]
      : ["DROP TRIGGER audit_log_update", "DROP TRIGGER audit_log_delete"];
    for (const sql of [...unlock, ...statements]) await database.transaction(() => run(sql));
  };
  const problems = async () => {
    const verdict = await verifyAudit(audit);
    return verdict.problems.map(({ kind, number }) => [kind, number]);
  };
  return { ...stores, tamper, problems };
}

test("each record holds the hash of the one before it, and the head that of the last", async () => {
  const { audit, problems } = await logOf(3);
  const { records } = await audit.list({ limit: 10 });
  expect(records.map(({ number }) => number)).toEqual([3, 2, 1]);
  const [third, second, first] = records;
  expect(first?.previous_hash).toBeNull();
  expect(second?.previous_hash).toBe(first?.hash);
  const { hash, ...content } = third ?? { hash: "" };
  expect(hash).toBe(hashAuditRecord(content));
  expect(await audit.head()).toEqual({ count: 3, hash });
  expect(await problems()).toEqual([]);
});

test("an empty log is intact", async () => {
  expect(await (await logOf(0)).problems()).toEqual([]);
});

test("records that are appended concurrently form one chain", async () => {
  const { audit, problems } = await logOf(0);
  await Promise.all(Array.from({ length: 30 }, (_, at) => audit.append(entry(`job-${at}`))));
  expect(await audit.head()).toMatchObject({ count: 30 });
  expect(await problems()).toEqual([]);
});

test("finds an edited record", async () => {
  const { tamper, problems } = await logOf(5);
  await tamper("UPDATE audit_log SET record = replace(record, 'job-2', 'job-9') WHERE number = 2");
  expect(await problems()).toEqual([["edited", 2]]);
});

test("finds an edited record whose hash was computed again", async () => {
  const { audit, tamper, problems } = await logOf(5);
  const [row] = await audit.rowsFrom(2);
  const content = JSON.parse(row?.record ?? "");
  const hash = hashAuditRecord({ ...content, identity: "user:mallory" });
  await tamper(
    `UPDATE audit_log SET hash = '${hash}', record = replace(record, 'kim', 'mallory') WHERE number = 2`,
  );
  expect(await problems()).toEqual([["edited", 2]]);
});

test("finds a last record that was replaced with its hash", async () => {
  const { audit, tamper, problems } = await logOf(3);
  const [row] = await audit.rowsFrom(3);
  const hash = hashAuditRecord({ ...JSON.parse(row?.record ?? ""), identity: "user:mallory" });
  await tamper(
    `UPDATE audit_log SET hash = '${hash}', record = replace(record, 'kim', 'mallory') WHERE number = 3`,
  );
  expect(await problems()).toEqual([["edited", 3]]);
});

test("finds a removed record", async () => {
  const { tamper, problems } = await logOf(5);
  await tamper("DELETE FROM audit_log WHERE number = 3");
  expect(await problems()).toEqual([["missing", 3]]);
});

test("finds that the end was cut off, also after more was appended", async () => {
  const { audit, tamper, problems } = await logOf(5);
  await tamper("DELETE FROM audit_log WHERE number > 3");
  expect(await problems()).toEqual([["truncated", 4]]);
  await audit.append(entry("job-6"));
  expect(await problems()).toEqual([["missing", 4]]);
});

test("finds a head that was set back, and refuses to append without one", async () => {
  const { audit, database, problems } = await logOf(2);
  await database.transaction(() => run("UPDATE audit_head SET count = 1 WHERE id = 1"));
  expect(await problems()).toEqual([["edited", 2]]);
  await database.transaction(() => run("DELETE FROM audit_head"));
  await expect(audit.append(entry("job-3"))).rejects.toMatchObject({ code: "state_damaged" });
});

test("the database refuses to change or remove a record", async () => {
  const { database, problems } = await logOf(2);
  for (const sql of ["UPDATE audit_log SET hash = 'x'", "DELETE FROM audit_log"]) {
    await expect(database.transaction(() => run(sql))).rejects.toThrow("append-only");
  }
  expect(await problems()).toEqual([]);
});

test("lists by time, identity and action, a page at a time", async () => {
  const { audit, time } = await logOf(2);
  time.now += 60_000;
  await audit.append(entry("job-3", { identity: "token:ci" }));
  await audit.append(entry("coder", { identity: "token:ci", action: "agent.pause" }));
  const numbers = async (query: Partial<Parameters<typeof audit.list>[0]>) => {
    const page = await audit.list({ limit: 10, ...query });
    return page.records.map(({ number }) => number);
  };
  expect(await numbers({ since: new Date(time.now) })).toEqual([4, 3]);
  expect(await numbers({ identity: "token:ci" })).toEqual([4, 3]);
  expect(await numbers({ identity: "token:ci", action: "job.trigger" })).toEqual([3]);
  const page = await audit.list({ limit: 3 });
  expect(page.next).toBe(2);
  expect(await numbers({ cursor: page.next ?? 0 })).toEqual([1]);
});
