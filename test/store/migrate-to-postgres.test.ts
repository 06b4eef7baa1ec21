import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { migrateStore, StateManager } from "@herdctl/core/internal";
import { expect, test } from "vitest";
import { copiedTables } from "../../packages/core/src/store/migration/copy-tables.ts";
import { openPostgres } from "../../packages/core/src/store/postgres/open.ts";
import { openSqlite } from "../../packages/core/src/store/sqlite/driver.ts";
import { acquireLock } from "../../packages/core/src/store/sqlite/state-lock.ts";
import { createTestDatabase, queryDatabase, sharedPostgresAddress } from "../support/postgres.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

await sharedPostgresAddress();

/** Text that JSON and columns can hold but that may break a database. */
const odd = "nul \0, half \ud83d, whole 😀, \uee00, é, \\u0000, 'quoted' \"twice\" \n%";

/** A state with rows in every table, mostly created by the stores. */
async function createStateWithHistory(jobs = 3) {
  const stateDir = join(tempFolderWith({}), ".herdctl");
  const state = await new StateManager(stateDir).open();
  for (let number = 0; number < jobs; number++) await recordJob(state, number);
  await state.sessions.save({ session_id: "s-1", agent: "one", session_home: "cli", cwd: odd });
  await state.jobs.create({ agent: "one", prompt: odd, trigger_type: "manual" });
  await state.close();
  fillOtherTables(join(stateDir, "herd.db"));
  return stateDir;
}

async function recordJob(state: StateManager, number: number): Promise<void> {
  const prompt = `${odd} ${number}`;
  const { job } = await state.jobs.create({ agent: "one", prompt, trigger_type: "manual" });
  await state.jobs.startAttempt(job.id);
  const end = { outcome_code: "success" as const, session_id: "s-1", cost_usd: 0.1, usage: null };
  const outcome = { code: "success" as const, message: odd, hint: "" };
  await state.jobs.endAttempt(job.id, 1, end, { status: "completed", outcome, cost_usd: 0.1 });
}

/** Minimal records that satisfy the derived columns. */
function fillOtherTables(file: string): void {
  const database = openSqlite(file);
  const [first] = database.prepare("SELECT id FROM jobs ORDER BY seq").all();
  const job = String(first?.id);
  const at = "2030-01-01T00:00:00.000Z";
  const record = (facts: object) => JSON.stringify({ ...facts, odd });
  const add = (table: string, row: Record<string, string | number>) => {
    const names = Object.keys(row);
    const places = names.map(() => "?").join(", ");
    const sql = `INSERT INTO ${table} (${names.join(", ")}) VALUES (${places})`;
    database.prepare(sql).run(...Object.values(row));
  };
  add("approvals", { id: "a", job_id: job, record: record({ input_hash: "h", answer: null }) });
  add("schedule_switches", { agent: "one", schedule: odd, enabled: 1 });
  add("schedules", { agent: "one", schedule: "s", record: record({ settled_through: at }) });
  const due = { agent: "one", schedule: "at", due_at: at };
  const fate = { result: "ran", last_due_at: at, settled_at: at };
  add("due_times", { ...due, record: record({ ...due, ...fate }) });
  add("planned_runs", { agent: "one", schedule: "at", record: record({}), key: odd });
  add("schedule_intervals", { agent: "one", schedule: "s", record: record({}) });
  add("budget_raises", { day: "2030-01-01", agent: "", record: record({}) });
  add("pauses", { subject: "one", record: record({}) });
  const delivery = { dedup_key: "k", agent: "one", received_at: at };
  add("deliveries", { id: "d", record: record(delivery), body: odd });
  add("hook_runs", { id: "h", job_id: job, record: record({ status: "due" }) });
  add("job_notices", { job_id: job, record: record({ kind: "question" }) });
  add("permission_rules", { id: "r", job_id: job, record: record({ agent: "one" }) });
  add("push_subscriptions", {
    id: "p",
    record: record({ endpoint: "https://push.example.org/1" }),
  });
  add("push_keys", { id: 1, record: record({}) });
  const claim = { source: "github", item: "7", job_id: job, status: "claimed", failed: false };
  add("work_claims", { id: "c", record: record(claim) });
  add("chat_links", { agent: "one", platform: "slack", received_until: at });
  add("conversations", { id: "v", record: record({ key: "k", last_used_at: at }) });
  const base = { agent: "one", platform: "slack", message_id: "m", conversation_id: "v" };
  const message = { ...base, status: "done", sent_at: at, job_id: job };
  add("chat_messages", { id: "m", record: record(message) });
  add("chat_posts", { nonce: "n", message: "m", record: record({}) });
  add("access_tokens", { name: "ci", hash: "h", record: record({}), last_used_at: at });
  add("logins", { id: "l", record: record({ signed_in_at: at, expires_at: at }) });
  const done = { time: at, identity: "user:one", action: "job.trigger" };
  add("audit_log", { number: 1, record: record(done), hash: "h" });
  add("audit_head", { id: 1, count: 1, hash: "h" });
  database.prepare("DELETE FROM job_end_outbox WHERE job_id = ?").run(job);
  database.close();
}

const countRows = async (store: string, table: string) =>
  Number((await queryDatabase(store, `SELECT count(*) AS n FROM herdctl.${table}`))[0]?.n);

const hashOf = (stateDir: string) =>
  createHash("sha256")
    .update(readFileSync(join(stateDir, "herd.db")))
    .digest("hex");

async function read<T>(stateDir: string, store: string | undefined, read: (s: StateManager) => T) {
  const state = await new StateManager(stateDir).open({ readOnly: true, store });
  try {
    return await read(state);
  } finally {
    await state.close();
  }
}

test("copies every table completely, in order and once, and leaves the source unchanged", async () => {
  const [stateDir, store] = [await createStateWithHistory(), await createTestDatabase()];
  const before = hashOf(stateDir);
  const seen: string[] = [];
  const { tables } = await migrateStore({
    stateDir,
    store,
    onTable: ({ table }) => seen.push(table),
  });
  expect(seen).toEqual(copiedTables.map(({ name }) => name));
  for (const { table, rows } of tables) {
    expect([table, rows], table).toEqual([table, await countRows(store, table)]);
    expect(rows, table).toBeGreaterThan(0);
  }
  // Finished jobs are copied unchanged: no hook runs a second time for them.
  expect(tables.find(({ table }) => table === "job_end_outbox")?.rows).toBe(2);
  expect(hashOf(stateDir)).toBe(before);

  const { id: node } = JSON.parse(readFileSync(join(stateDir, "node.json"), "utf8"));
  const jobs = (state: StateManager) => state.jobs.list({ limit: 10 });
  const [old, now] = [await read(stateDir, undefined, jobs), await read(stateDir, store, jobs)];
  expect(now.jobs).toEqual(
    old.jobs.map((job) => ({ ...job, node: job.attempts > 0 ? node : null })),
  );
  const sessions = (state: StateManager) => state.sessions.list({});
  const kept = await read(stateDir, undefined, sessions);
  expect(await read(stateDir, store, sessions)).toEqual(
    kept.map((session) => ({ ...session, node })),
  );
  expect(kept).toMatchObject([{ cwd: odd }]);
});

test("copies more rows than fit into one statement, and numbers new jobs after them", async () => {
  const [stateDir, store] = [await createStateWithHistory(230), await createTestDatabase()];
  await migrateStore({ stateDir, store });
  const state = await new StateManager(stateDir).open({ store });
  try {
    const { job } = await state.jobs.create({
      agent: "one",
      prompt: "new",
      trigger_type: "manual",
    });
    const { jobs } = await state.jobs.list({ limit: 300 });
    expect(jobs).toHaveLength(232);
    expect(jobs[0]?.id).toBe(job.id);
  } finally {
    await state.close();
  }
});

test("refuses a store that is not empty or has a running fleet, and leaves it unchanged", async () => {
  const [stateDir, store] = [await createStateWithHistory(1), await createTestDatabase()];
  await migrateStore({ stateDir, store });
  const again = migrateStore({ stateDir, store });
  await expect(again).rejects.toThrow(
    expect.objectContaining({ code: "store_refused", message: expect.stringContaining("jobs") }),
  );
  expect(await countRows(store, "jobs")).toBe(2);

  const other = await createTestDatabase();
  await (await openPostgres(other)).close();
  await queryDatabase(
    other,
    `INSERT INTO herdctl.nodes
       (id, name, role, labels, capacity, version, config_hash, epoch, status, joined_at, heartbeat_at)
     VALUES ('n', 'n', 'all', '[]', 1, '1', 'x', 1, 'live', now(), now())`,
  );
  await expect(migrateStore({ stateDir, store: other })).rejects.toThrow(/nodes are running on it/);
  expect(await countRows(other, "jobs")).toBe(0);
});

test("copies nothing while a fleet or a runner is running", async () => {
  const [stateDir, store] = [await createStateWithHistory(1), await createTestDatabase()];
  const lock = acquireLock(stateDir);
  await expect(migrateStore({ stateDir, store })).rejects.toThrow(
    expect.objectContaining({ code: "fleet_running" }),
  );
  lock.release();
  const state = await new StateManager(stateDir).open();
  const { job } = await state.jobs.create({ agent: "one", prompt: "p", trigger_type: "manual" });
  await state.jobs.startAttempt(job.id);
  await state.close();
  await expect(migrateStore({ stateDir, store })).rejects.toThrow(
    new RegExp(`job ${job.id} is still running`),
  );
});

test("discards a copy that differs from the source", async () => {
  const [stateDir, store] = [await createStateWithHistory(), await createTestDatabase()];
  await (await openPostgres(store)).close();
  await queryDatabase(
    store,
    `CREATE FUNCTION herdctl.spoil() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN NEW.body = NEW.body || '!'; RETURN NEW; END $$`,
  );
  await queryDatabase(
    store,
    `CREATE TRIGGER spoil BEFORE INSERT ON herdctl.deliveries
       FOR EACH ROW EXECUTE FUNCTION herdctl.spoil()`,
  );
  await expect(migrateStore({ stateDir, store })).rejects.toThrow(
    /deliveries was not copied correctly: the content differs/,
  );
  expect(await countRows(store, "jobs")).toBe(0);
});
