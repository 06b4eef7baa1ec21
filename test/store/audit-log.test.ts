import { expect, test } from "vitest";
import { hashAuditRecord, verifyAudit } from "../../packages/core/src/store/sql/audit-store.ts";
import { execute } from "../../packages/core/src/store/sql/sql-program.ts";
import type { AuditEntry } from "../../packages/protocol/src/records/audit.ts";
import { openStores } from "./test-stores.ts";

const auditEntry = (target: string, more: Partial<AuditEntry> = {}): AuditEntry => ({
  identity: "user:kim",
  origin: "socket",
  action: "job.trigger",
  target,
  outcome: "ok",
  error: null,
  details: { agent: "coder" },
  ...more,
});

async function createAuditLog(count: number) {
  const stores = await openStores();
  for (let number = 1; number <= count; number += 1)
    await stores.audit.append(auditEntry(`job-${number}`));
  const { database, audit } = stores;
  /** Changes made by someone who can write to the database. */
  const tamper = async (...statements: string[]) => {
    const unlock = database.dialect.hasNodes
      ? ["ALTER TABLE audit_log DISABLE TRIGGER USER"]
      : ["DROP TRIGGER IF EXISTS audit_log_update", "DROP TRIGGER IF EXISTS audit_log_delete"];
    for (const sql of [...unlock, ...statements]) await database.transaction(() => execute(sql));
  };
  const problems = async () => {
    const verdict = await verifyAudit(audit);
    return verdict.problems.map(({ kind, number }) => [kind, number]);
  };
  return { ...stores, tamper, problems };
}

test("stores in each record the hash of the previous one, and the last in the head", async () => {
  const { audit, problems } = await createAuditLog(3);
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

test("verifies an empty log", async () => {
  expect(await (await createAuditLog(0)).problems()).toEqual([]);
});

test("forms one chain of concurrently appended records", async () => {
  const { audit, problems } = await createAuditLog(0);
  await Promise.all(Array.from({ length: 30 }, (_, at) => audit.append(auditEntry(`job-${at}`))));
  expect(await audit.head()).toMatchObject({ count: 30 });
  expect(await problems()).toEqual([]);
});

test("finds an edited record", async () => {
  const { tamper, problems } = await createAuditLog(5);
  await tamper("UPDATE audit_log SET record = replace(record, 'job-2', 'job-9') WHERE number = 2");
  expect(await problems()).toEqual([["edited", 2]]);
});

test("finds an edited record whose hash was recomputed", async () => {
  const { audit, tamper, problems } = await createAuditLog(5);
  const [row] = await audit.readRowsFrom(2);
  const content = JSON.parse(row?.record ?? "");
  const hash = hashAuditRecord({ ...content, identity: "user:mallory" });
  await tamper(
    `UPDATE audit_log SET hash = '${hash}', record = replace(record, 'kim', 'mallory') WHERE number = 2`,
  );
  expect(await problems()).toEqual([["edited", 2]]);
});

test("finds a last record that was replaced with its hash", async () => {
  const { audit, tamper, problems } = await createAuditLog(3);
  const [row] = await audit.readRowsFrom(3);
  const hash = hashAuditRecord({ ...JSON.parse(row?.record ?? ""), identity: "user:mallory" });
  await tamper(
    `UPDATE audit_log SET hash = '${hash}', record = replace(record, 'kim', 'mallory') WHERE number = 3`,
  );
  expect(await problems()).toEqual([["edited", 3]]);
});

test("finds a removed record", async () => {
  const { tamper, problems } = await createAuditLog(5);
  await tamper("DELETE FROM audit_log WHERE number = 3");
  expect(await problems()).toEqual([["missing", 3]]);
});

test("finds a truncated end, also after more was appended", async () => {
  const { audit, tamper, problems } = await createAuditLog(5);
  await tamper("DELETE FROM audit_log WHERE number > 3");
  expect(await problems()).toEqual([["truncated", 4]]);
  await audit.append(auditEntry("job-6"));
  expect(await problems()).toEqual([["missing", 4]]);
});

test("finds a head that was set back, and refuses to append without one", async () => {
  const { audit, database, problems } = await createAuditLog(2);
  await database.transaction(() => execute("UPDATE audit_head SET count = 1 WHERE id = 1"));
  expect(await problems()).toEqual([["edited", 2]]);
  await database.transaction(() => execute("DELETE FROM audit_head"));
  await expect(audit.append(auditEntry("job-3"))).rejects.toMatchObject({ code: "state_damaged" });
});

test("finds a recomputed or missing chain only with a head that was stored elsewhere", async () => {
  const { audit, tamper, problems } = await createAuditLog(3);
  const kept = await audit.head();
  const rows = await audit.readRowsFrom(2);
  let previous_hash = (await audit.readRowsFrom(1))[0]?.hash ?? "";
  for (const { number, record } of rows) {
    const forged = { ...JSON.parse(record), identity: "user:mallory", previous_hash };
    previous_hash = hashAuditRecord(forged);
    await tamper(
      `UPDATE audit_log SET hash = '${previous_hash}', record = '${JSON.stringify(forged)}' WHERE number = ${number}`,
    );
  }
  await tamper(`UPDATE audit_head SET hash = '${previous_hash}'`);
  expect(await problems()).toEqual([]);
  expect(
    (await audit.list({ cursor: cursorOf(kept.count + 1), limit: 1 })).records[0],
  ).toMatchObject({
    ...{ number: kept.count, hash: expect.not.stringMatching(kept.hash ?? "") },
  });
  await tamper("DELETE FROM audit_log", "DELETE FROM audit_head");
  expect(await problems()).toEqual([]);
  expect((await audit.list({ cursor: cursorOf(kept.count + 1), limit: 1 })).records).toEqual([]);
});

test("refuses to change or remove a record in the database", async () => {
  const { database, problems } = await createAuditLog(2);
  for (const sql of ["UPDATE audit_log SET hash = 'x'", "DELETE FROM audit_log"]) {
    await expect(database.transaction(() => execute(sql))).rejects.toThrow("append-only");
  }
  expect(await problems()).toEqual([]);
});

test("lists records by time, identity and action, page by page", async () => {
  const { audit, time } = await createAuditLog(2);
  time.now += 60_000;
  await audit.append(auditEntry("job-3", { identity: "token:ci" }));
  await audit.append(auditEntry("coder", { identity: "token:ci", action: "agent.pause" }));
  const numbers = async (query: Partial<Parameters<typeof audit.list>[0]>) => {
    const page = await audit.list({ limit: 10, ...query });
    return page.records.map(({ number }) => number);
  };
  expect(await numbers({ since: new Date(time.now) })).toEqual([4, 3]);
  expect(await numbers({ identity: "token:ci" })).toEqual([4, 3]);
  expect(await numbers({ identity: "token:ci", action: "job.trigger" })).toEqual([3]);
  const page = await audit.list({ limit: 3 });
  expect(page.next_cursor).toBe(cursorOf(2));
  expect(await numbers({ cursor: page.next_cursor ?? "" })).toEqual([1]);
});

/** The cursor of the page after the record with this number. */
function cursorOf(number: number): string {
  return Buffer.from(JSON.stringify([number])).toString("base64url");
}
