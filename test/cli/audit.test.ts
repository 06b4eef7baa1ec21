import { cpSync } from "node:fs";
import { join } from "node:path";
import type { AuditPage } from "@herdctl/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SqliteDatabase } from "../../packages/core/src/store/sqlite/database.ts";
import { StateManager } from "../../packages/core/src/store/state-manager.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { runHerdctl } from "./run-herdctl.ts";

const yaml = "version: 1\nfleet: { name: test }\nagents: [{ name: coder }]\n";
const emptyFleetFolder = tempFolderWith({ "herdctl.yaml": yaml }, afterAll);

beforeAll(async () => {
  const state = await new StateManager(join(emptyFleetFolder, ".herdctl")).open();
  for (const [at, identity] of ["user:kim", "token:ci", "user:kim", "token:ci"].entries()) {
    await state.audit.append({
      ...{ identity, origin: "socket", action: "job.trigger", target: `job-${at + 1}` },
      ...{ outcome: "ok", error: null, details: { agent: "coder" } },
    });
  }
  await state.audit.append({
    ...{ identity: "discord:\u001b[31mEve#1", origin: "discord", action: "job.cancel" },
    ...{ target: "job-1", outcome: "refused", error: "not_allowed", details: {} },
  });
  await state.close();
});

/** A copy of the log, changed by someone who can write to the database. */
function auditedFleet(sql = "") {
  const folder = tempFolderWith({});
  cpSync(emptyFleetFolder, folder, { recursive: true });
  const store = join(folder, ".herdctl/herd.db");
  const database = new SqliteDatabase(store);
  database.exec(`DROP TRIGGER audit_log_update; DROP TRIGGER audit_log_delete; ${sql}`);
  database.close();
  const run = (...args: string[]) => runHerdctl(["audit", ...args], { cwd: folder });
  return { store, run };
}

test("lists an intact audit log by page, identity and action, and verifies it", async () => {
  const { run, store } = auditedFleet();
  const list = async (...args: string[]): Promise<AuditPage> =>
    JSON.parse((await run("--json", ...args)).stdout);
  const numbersOf = ({ records }: AuditPage) => records.map(({ number }) => number);
  const page = await list("--limit", "2");
  expect(numbersOf(page)).toEqual([5, 4]);
  expect(numbersOf(await list("--cursor", page.next_cursor ?? ""))).toEqual([3, 2, 1]);
  expect(numbersOf(await list("--identity", "token:ci"))).toEqual([4, 2]);
  expect(numbersOf(await list("--action", "job.cancel", "--since", "1h"))).toEqual([5]);
  const { stdout } = await run();
  expect(stdout).toMatch(/job\.cancel +refused: not_allowed +job-1/);
  expect(stdout).toMatch(/^2 .* token:ci +socket +job\.trigger +ok +job-2 +agent=coder$/m);
  expect(stdout).not.toContain("\u001b");
  expect(await run("--action", "job.cancle")).toMatchObject({ code: 2, stdout: "" });

  const head = { count: 5, hash: page.records[0]?.hash };
  const verified = await run("verify");
  expect(verified).toMatchObject({ code: 0, stderr: "" });
  expect(verified.stdout).toBe(`✓ 5 records, none edited or removed\n  head 5 ${head.hash}\n`);
  const { code, stdout: json } = await run("verify", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(json)).toEqual({ ok: true, store, head, problems: [], hint: null });
  const [last] = (await list("--limit", "1")).records;
  expect(last).toMatchObject({ number: head.count, hash: head.hash });
});

test.each([
  {
    change: "edited",
    sql: "UPDATE audit_log SET record = replace(record, 'user:kim', 'user:eve') WHERE number = 3",
    problem: { kind: "edited", number: 3, message: "record 3 was edited" },
    hint: /^The log is intact up to record 2\. Copy the database .* compare it with a backup/,
  },
  {
    change: "removed",
    sql: "DELETE FROM audit_log WHERE number = 1",
    problem: { kind: "missing", number: 1, message: "record 1 is missing" },
    hint: /^Copy the database/,
  },
  {
    change: "cut off at the end",
    sql: "DELETE FROM audit_log WHERE number > 3",
    problem: {
      ...{ kind: "truncated", number: 4 },
      message: "the log is truncated: records 4 to 5 are missing",
    },
    hint: /^The log is intact up to record 3\./,
  },
  {
    change: "shortened",
    sql: "UPDATE audit_log SET record = json_remove(record, '$.details') WHERE number = 4",
    problem: { kind: "edited", number: 4, message: "record 4 was edited" },
    hint: /^The log is intact up to record 3\./,
  },
])("finds a record that was $change and reports its position with a hint", async (expected) => {
  const { run, store } = auditedFleet(expected.sql);
  const { code, stdout } = await run("verify");
  expect(code).toBe(1);
  const [problem, place, hint, ...more] = stdout.split("\n");
  expect(problem).toBe(`✗ ${expected.problem.message}`);
  expect(place).toBe(`  in ${store}`);
  expect(hint?.trim()).toMatch(expected.hint);
  expect(more).toEqual([""]);
  const json = await run("verify", "--json");
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({
    ...{ ok: false, store, problems: [expected.problem] },
    hint: expect.stringMatching(expected.hint),
  });
});

test("names the unreadable record and `audit verify` when a list fails", async () => {
  const { run } = auditedFleet(
    "UPDATE audit_log SET record = json_remove(record, '$.details') WHERE number = 4",
  );
  const { code, stderr } = await run();
  expect(code).toBe(4);
  expect(stderr).toMatch(/record 4 of the audit log in .*herd\.db cannot be read\n.*audit verify/);
});
