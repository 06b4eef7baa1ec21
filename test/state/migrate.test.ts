import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { migrateStore, StateManager } from "@herdctl/core";
import { expect, test } from "vitest";
import { acquireLock } from "../../packages/core/src/state/lock.ts";
import { copiedTables } from "../../packages/core/src/state/migrate/tables.ts";
import { openPostgres } from "../../packages/core/src/state/postgres/open.ts";
import { DatabaseSync } from "../../packages/core/src/state/sqlite/driver.ts";
import { folderWith } from "../support/folder.ts";
import { ask, testDatabase, testServer } from "../support/postgres.ts";

await testServer();

/** What JSON and text can hold and a database may stumble over. */
const odd = "nul \0, half \ud83d, whole 😀, \uee00, é, \\u0000, 'quoted' \"twice\" \n%";

/** A state with something in every table, made by the stores where they make it easily. */
async function pastOf(jobs = 3) {
  const stateDir = join(folderWith({}), ".herdctl");
  const state = await new StateManager(stateDir).open();
  for (let number = 0; number < jobs; number++) await recordJob(state, number);
  await state.sessions.save({ session_id: "s-1", agent: "one", place: "cli", cwd: odd });
  await state.jobs.create({ agent: "one", prompt: odd, trigger_type: "manual" });
  await state.close();
  fillRest(join(stateDir, "herd.db"));
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

/** Records as small as the columns that are derived from them let them be. */
function fillRest(file: string): void {
  const database = new DatabaseSync(file);
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
  add("schedules", { agent: "one", schedule: "s", record: record({ through: at }) });
  const due = { agent: "one", schedule: "at", due_at: at };
  const fate = { result: "ran", until: at, settled_at: at };
  add("due_times", { ...due, record: record({ ...due, ...fate }) });
  add("one_shots", { agent: "one", schedule: "at", record: record({}), key: odd });
  add("schedule_intervals", { agent: "one", schedule: "s", record: record({}) });
  add("budget_raises", { day: "2030-01-01", agent: "", record: record({}) });
  add("pauses", { subject: "one", record: record({}) });
  const delivery = { key: "k", agent: "one", received_at: at };
  add("deliveries", { id: "d", record: record(delivery), body: odd });
  add("hook_runs", { id: "h", job_id: job, record: record({ status: "due" }) });
  const claim = { source: "github", item: "7", job_id: job, status: "claimed", failed: false };
  add("work_claims", { id: "c", record: record(claim) });
  add("chat_links", { agent: "one", platform: "slack", heard_until: at });
  add("conversations", { id: "v", record: record({ key: "k", last_used_at: at }) });
  const said = { agent: "one", platform: "slack", message_id: "m", conversation_id: "v" };
  const message = { ...said, status: "done", sent_at: at, job_id: job };
  add("chat_messages", { id: "m", record: record(message) });
  add("chat_posts", { nonce: "n", message: "m", record: record({}) });
  add("access_tokens", { name: "ci", hash: "h", record: record({}), last_used_at: at });
  add("logins", { id: "l", record: record({ signed_in_at: at, expires_at: at }) });
  const done = { time: at, identity: "user:one", action: "job.trigger" };
  add("audit_log", { number: 1, record: record(done), hash: "h" });
  add("audit_head", { id: 1, count: 1, hash: "h" });
  database.prepare("DELETE FROM endings WHERE job_id = ?").run(job);
  database.close();
}

const counted = async (store: string, table: string) =>
  Number((await ask(store, `SELECT count(*) AS n FROM herdctl.${table}`))[0]?.n);

const hashOf = (stateDir: string) =>
  createHash("sha256")
    .update(readFileSync(join(stateDir, "herd.db")))
    .digest("hex");

async function read<T>(stateDir: string, store: string | undefined, look: (s: StateManager) => T) {
  const state = await new StateManager(stateDir).open({ readOnly: true, store });
  try {
    return await look(state);
  } finally {
    await state.close();
  }
}

test("every table arrives whole, in order and once; what was there stays as it was", async () => {
  const [stateDir, store] = [await pastOf(), await testDatabase()];
  const before = hashOf(stateDir);
  const seen: string[] = [];
  const { tables } = await migrateStore({
    stateDir,
    store,
    onTable: ({ table }) => seen.push(table),
  });
  expect(seen).toEqual(copiedTables.map(({ name }) => name));
  for (const { table, rows } of tables) {
    expect([table, rows], table).toEqual([table, await counted(store, table)]);
    expect(rows, table).toBeGreaterThan(0);
  }
  // Finished jobs came over as they were: no hook runs a second time for them.
  expect(tables.find(({ table }) => table === "endings")?.rows).toBe(2);
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

test("more than fits into one statement goes, too, and new jobs come after the old ones", async () => {
  const [stateDir, store] = [await pastOf(230), await testDatabase()];
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

test("a store that holds something, or runs a fleet, is refused and left alone", async () => {
  const [stateDir, store] = [await pastOf(1), await testDatabase()];
  await migrateStore({ stateDir, store });
  const again = migrateStore({ stateDir, store });
  await expect(again).rejects.toThrow(
    expect.objectContaining({ code: "store_refused", message: expect.stringContaining("jobs") }),
  );
  expect(await counted(store, "jobs")).toBe(2);

  const other = await testDatabase();
  await (await openPostgres(other)).close();
  await ask(
    other,
    `INSERT INTO herdctl.nodes
       (id, name, role, labels, capacity, version, config_print, epoch, status, joined_at, heartbeat_at)
     VALUES ('n', 'n', 'all', '[]', 1, '1', 'x', 1, 'live', now(), now())`,
  );
  await expect(migrateStore({ stateDir, store: other })).rejects.toThrow(/nodes run on it/);
  expect(await counted(other, "jobs")).toBe(0);
});

test("nothing is copied under a fleet that runs, or a runner that is at work", async () => {
  const [stateDir, store] = [await pastOf(1), await testDatabase()];
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
    new RegExp(`job ${job.id} is still under way`),
  );
});

test("what arrives otherwise than it was sent is not kept", async () => {
  const [stateDir, store] = [await pastOf(), await testDatabase()];
  await (await openPostgres(store)).close();
  await ask(
    store,
    `CREATE FUNCTION herdctl.spoil() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN NEW.body = NEW.body || '!'; RETURN NEW; END $$`,
  );
  await ask(
    store,
    `CREATE TRIGGER spoil BEFORE INSERT ON herdctl.deliveries
       FOR EACH ROW EXECUTE FUNCTION herdctl.spoil()`,
  );
  await expect(migrateStore({ stateDir, store })).rejects.toThrow(
    /deliveries did not arrive as it was sent: their content differs/,
  );
  expect(await counted(store, "jobs")).toBe(0);
});
