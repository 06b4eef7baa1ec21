import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { migrate, migrations } from "../../../packages/core/src/store/postgres/migrations.ts";
import { openPostgres } from "../../../packages/core/src/store/postgres/open.ts";
import { parseStoreAddress } from "../../../packages/core/src/store/postgres/store-address.ts";
import { execute, queryRow, queryRows } from "../../../packages/core/src/store/sql/sql-program.ts";
import { createTestDatabase, queryDatabase } from "../../support/postgres.ts";
import { createTestStores } from "../test-stores.ts";

async function openDatabase(address?: string) {
  const where = address ?? (await createTestDatabase());
  const { database, close } = await openPostgres(where);
  onTestFinished(close);
  return { database, address: where };
}

const addPause = (subject: string) =>
  execute("INSERT INTO pauses (subject, record) VALUES (?, ?)", subject, "{}");
const countPauses = function* () {
  return Number((yield* queryRow("SELECT count(*) AS n FROM pauses"))?.n);
};

test("commits a transaction completely or not at all", async () => {
  const { database } = await openDatabase();
  const failed = database.transaction(function* () {
    yield* addPause("a");
    throw new Error("no");
  });
  await expect(failed).rejects.toThrow("no");
  expect(await database.read(countPauses)).toBe(0);
  await database.transaction(() => addPause("a"));
  expect(await database.read(countPauses)).toBe(1);
});

test("rolls back a transaction with a caught failure", async () => {
  const { database } = await openDatabase();
  const written = database.transaction(function* () {
    yield* addPause("a");
    try {
      yield* addPause("a");
    } catch {
      // The failure is ignored on purpose.
    }
  });
  await expect(written).rejects.toThrow("rolled back");
  expect(await database.read(countPauses)).toBe(0);
});

test("returns counts and sums as numbers, and counts rows", async () => {
  const { database } = await openDatabase();
  const [changed, row] = await database.transaction(function* () {
    yield* addPause("a");
    const changed = yield* execute("UPDATE pauses SET record = ? WHERE subject <> ?", "{}", "b");
    return [
      changed,
      yield* queryRow("SELECT count(*) AS n, sum(rowid) AS s, 0.5::float8 AS f FROM pauses"),
    ] as const;
  });
  expect(changed).toBe(1);
  expect(row).toEqual({ n: 1, s: 1, f: 0.5 });
});

test("finds placeholders outside quotes, numbered or not", async () => {
  const { database } = await openDatabase();
  const sql = "SELECT '?' || ? AS a, ? || '''?' AS b";
  expect(await database.read(() => queryRow(sql, "x", "y"))).toEqual({ a: "?x", b: "y'?" });
  const twice = "SELECT ?1 || ?2 || ?1 AS a";
  expect(await database.read(() => queryRow(twice, "x", "y"))).toEqual({ a: "xyx" });
});

test("writes records as JSON in every given row", async () => {
  const { database } = await openDatabase();
  const record = (text: string) =>
    JSON.stringify({ agent: text, session_home: "cli", last_used_at: "1" });
  const rows = ["a\0", "b\ud800", "\\u0000"].map((text) => [text, record(text)] as const);
  const sql = "INSERT INTO sessions (session_id, record) VALUES (?, ?), (?, ?), (?, ?)";
  await database.transaction(() => execute(sql, ...rows.flat()));
  for (const [text, record] of rows) {
    const found = queryRow("SELECT agent, record FROM sessions WHERE agent = ?", text);
    expect(await database.read(() => found)).toEqual({ agent: text, record });
  }
});

test("reads several statements from one snapshot", async () => {
  const { database } = await openDatabase();
  const counts = await database.read(function* () {
    const before = yield* countPauses();
    const other = database.transaction(() => addPause(`s${Math.random()}`));
    other.catch(() => undefined);
    yield* queryRows("SELECT pg_sleep(0.2)");
    return [before, yield* countPauses()];
  });
  expect(counts[0]).toBe(counts[1]);
});

test("fails a failing request alone and keeps the others once", async () => {
  const { database } = await openDatabase();
  const add = (subject: string) => database.groupCommit(() => addPause(subject));
  const all = await Promise.allSettled(["a", "b", "a", "c"].map(add));
  expect(all.map(({ status }) => status)).toEqual([
    "fulfilled",
    "fulfilled",
    "rejected",
    "fulfilled",
  ]);
  expect(await database.read(countPauses)).toBe(3);
});

test("creates one job for a hundred admissions with one key from three nodes", async () => {
  const address = await createTestDatabase();
  const databases = await Promise.all([1, 2, 3].map(() => openDatabase(address)));
  const stores = databases.map(({ database }) => createTestStores(database));
  const all = await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      stores[at % 3]?.jobs.create({ agent: "a", prompt: "p", idempotency_key: "once" }),
    ),
  );
  expect(new Set(all.map((one) => one?.job.id)).size).toBe(1);
  expect(all.filter((one) => one?.created)).toHaveLength(1);
});

test("serializes transactions from several nodes", async () => {
  const address = await createTestDatabase();
  const databases = await Promise.all([1, 2, 3].map(() => openDatabase(address)));
  await databases[0]?.database.transaction(() =>
    execute("INSERT INTO pauses (subject, record) VALUES ('n', ?)", "0"),
  );
  await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      databases[at % 3]?.database.transaction(function* () {
        const row = yield* queryRow("SELECT record FROM pauses WHERE subject = 'n'");
        yield* execute("UPDATE pauses SET record = ?", String(Number(row?.record) + 1));
      }),
    ),
  );
  expect((await queryDatabase(address, "SELECT record FROM herdctl.pauses"))[0]).toEqual({
    record: "60",
  });
});

describe("fencing", () => {
  const join = `INSERT INTO herdctl.nodes (id, name, role, labels, capacity, version, config_hash,
    epoch, status, joined_at, heartbeat_at)
    VALUES ('n', 'n', 'all', '[]', 1, '1', 'p', 3, 'live', now(), now())`;

  test.each([
    ["another epoch", "UPDATE herdctl.nodes SET epoch = 4"],
    ["a lost node", "UPDATE herdctl.nodes SET status = 'lost'"],
    ["an unlisted node", "DELETE FROM herdctl.nodes"],
  ])("refuses every write of %s, alone and combined, and no read", async (_, change) => {
    const { database, address } = await openDatabase();
    await queryDatabase(address, join);
    database.setWriter({ id: "n", epoch: 3 });
    await database.transaction(() => addPause("before"));
    await queryDatabase(address, change);
    const fenced = { code: "node_fenced" };
    await expect(database.transaction(() => addPause("x"))).rejects.toMatchObject(fenced);
    await expect(database.groupCommit(() => addPause("x"))).rejects.toMatchObject(fenced);
    expect(await database.read(countPauses)).toBe(1);
    database.setWriter(undefined);
    await database.transaction(() => addPause("after"));
  });
});

describe("schema of the store", () => {
  test("creates the schema once when several nodes start concurrently", async () => {
    const address = await createTestDatabase();
    await Promise.all(Array.from({ length: 6 }, () => openDatabase(address)));
    const rows = await queryDatabase(address, "SELECT version FROM herdctl.schema_version");
    expect(rows).toEqual([{ version: migrations.length }]);
  });

  test("leaves a newer schema alone", async () => {
    const { address } = await openDatabase();
    await queryDatabase(address, "UPDATE herdctl.schema_version SET version = 99");
    await expect(openPostgres(address)).rejects.toMatchObject({ code: "state_newer" });
    const [row] = await queryDatabase(address, "SELECT version FROM herdctl.schema_version");
    expect(row?.version).toBe(99);
  });

  test("does not change an older schema when opened for reading", async () => {
    const { address } = await openDatabase();
    await queryDatabase(address, "UPDATE herdctl.schema_version SET version = -1");
    const reading = openPostgres(address, { readOnly: true });
    await expect(reading).rejects.toMatchObject({ code: "state_older" });
  });

  test("upgrades an older schema once", async () => {
    const { address } = await openDatabase();
    const steps = [...migrations, "CREATE TABLE herdctl.later (n integer)"];
    const pool = new pg.Pool({ connectionString: address });
    onTestFinished(() => pool.end());
    const client = await pool.connect();
    // The database may be dropped before the connection has closed.
    client.on("error", () => undefined);
    onTestFinished(() => client.release());
    await migrate(client, parseStoreAddress(address), steps);
    await migrate(client, parseStoreAddress(address), steps);
    const [row] = await queryDatabase(address, "SELECT version FROM herdctl.schema_version");
    expect(row?.version).toBe(steps.length);
  });
});

describe("wrong store address", () => {
  test.each([
    ["password", (url: URL) => Object.assign(url, { password: "wrong" }), "store_refused"],
    ["empty password", (url: URL) => Object.assign(url, { password: "" }), "store_refused"],
    ["database", (url: URL) => Object.assign(url, { pathname: "/nowhere" }), "store_refused"],
    ["user", (url: URL) => Object.assign(url, { username: "nobody" }), "store_refused"],
    ["port", (url: URL) => Object.assign(url, { port: "1" }), "state_unavailable"],
    ["host", (url: URL) => Object.assign(url, { hostname: "no.invalid" }), "state_unavailable"],
  ])("explains a wrong %s without showing the password", async (_, change, code) => {
    const address = await createTestDatabase();
    const { password } = new URL(address);
    const error = await openPostgres(change(new URL(address)).href).catch((error) => error);
    expect(error).toMatchObject({ code });
    expect(`${error.message} ${error.hint}`).not.toContain(password);
    expect(error.message).not.toContain("wrong");
  });
});
