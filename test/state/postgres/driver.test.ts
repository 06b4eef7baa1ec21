import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseAddress } from "../../../packages/core/src/state/postgres/address.ts";
import { migrate, migrations } from "../../../packages/core/src/state/postgres/migrations.ts";
import { openPostgres } from "../../../packages/core/src/state/postgres/open.ts";
import { all, one, run } from "../../../packages/core/src/state/sql/steps.ts";
import { ask, testDatabase } from "../../support/postgres.ts";
import { storesOver } from "../support.ts";

async function opened(address?: string) {
  const where = address ?? (await testDatabase());
  const { database, close } = await openPostgres(where);
  onTestFinished(close);
  return { database, address: where };
}

const addPause = (subject: string) =>
  run("INSERT INTO pauses (subject, record) VALUES (?, ?)", subject, "{}");
const countPauses = function* () {
  return Number((yield* one("SELECT count(*) AS n FROM pauses"))?.n);
};

test("a transaction is all or nothing", async () => {
  const { database } = await opened();
  const failed = database.transaction(function* () {
    yield* addPause("a");
    throw new Error("no");
  });
  await expect(failed).rejects.toThrow("no");
  expect(await database.read(countPauses)).toBe(0);
  await database.transaction(() => addPause("a"));
  expect(await database.read(countPauses)).toBe(1);
});

test("a failure that nobody took notice of does not pass for kept", async () => {
  const { database } = await opened();
  const written = database.transaction(function* () {
    yield* addPause("a");
    try {
      yield* addPause("a");
    } catch {
      // As if nothing had happened.
    }
  });
  await expect(written).rejects.toThrow("undone");
  expect(await database.read(countPauses)).toBe(0);
});

test("counts and sums are numbers, rows are counted", async () => {
  const { database } = await opened();
  const [changed, row] = await database.transaction(function* () {
    yield* addPause("a");
    const changed = yield* run("UPDATE pauses SET record = ? WHERE subject <> ?", "{}", "b");
    return [
      changed,
      yield* one("SELECT count(*) AS n, sum(rowid) AS s, 0.5::float8 AS f FROM pauses"),
    ] as const;
  });
  expect(changed).toBe(1);
  expect(row).toEqual({ n: 1, s: 1, f: 0.5 });
});

test("placeholders are found outside of quotes, numbered or not", async () => {
  const { database } = await opened();
  const sql = "SELECT '?' || ? AS a, ? || '''?' AS b";
  expect(await database.read(() => one(sql, "x", "y"))).toEqual({ a: "?x", b: "y'?" });
  const twice = "SELECT ?1 || ?2 || ?1 AS a";
  expect(await database.read(() => one(twice, "x", "y"))).toEqual({ a: "xyx" });
});

test("records are written as JSON, in every row that is given", async () => {
  const { database } = await opened();
  const said = (text: string) => JSON.stringify({ agent: text, place: "cli", last_used_at: "1" });
  const rows = ["a\0", "b\ud800", "\\u0000"].map((text) => [text, said(text)] as const);
  const sql = "INSERT INTO sessions (session_id, record) VALUES (?, ?), (?, ?), (?, ?)";
  await database.transaction(() => run(sql, ...rows.flat()));
  for (const [text, record] of rows) {
    const found = one("SELECT agent, record FROM sessions WHERE agent = ?", text);
    expect(await database.read(() => found)).toEqual({ agent: text, record });
  }
});

test("reads of several statements see one moment", async () => {
  const { database } = await opened();
  const counts = await database.read(function* () {
    const before = yield* countPauses();
    const other = database.transaction(() => addPause(`s${Math.random()}`));
    other.catch(() => undefined);
    yield* all("SELECT pg_sleep(0.2)");
    return [before, yield* countPauses()];
  });
  expect(counts[0]).toBe(counts[1]);
});

test("who fails among others fails alone, and theirs is kept once", async () => {
  const { database } = await opened();
  const add = (subject: string) => database.together(() => addPause(subject));
  const all = await Promise.allSettled(["a", "b", "a", "c"].map(add));
  expect(all.map(({ status }) => status)).toEqual([
    "fulfilled",
    "fulfilled",
    "rejected",
    "fulfilled",
  ]);
  expect(await database.read(countPauses)).toBe(3);
});

test("a hundred admits with one key from three nodes are one job", async () => {
  const address = await testDatabase();
  const databases = await Promise.all([1, 2, 3].map(() => opened(address)));
  const stores = databases.map(({ database }) => storesOver(database));
  const all = await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      stores[at % 3]?.jobs.create({ agent: "a", prompt: "p", idempotency_key: "once" }),
    ),
  );
  expect(new Set(all.map((one) => one?.job.id)).size).toBe(1);
  expect(all.filter((one) => one?.created)).toHaveLength(1);
});

test("transactions from several nodes come one after the other", async () => {
  const address = await testDatabase();
  const databases = await Promise.all([1, 2, 3].map(() => opened(address)));
  await databases[0]?.database.transaction(() =>
    run("INSERT INTO pauses (subject, record) VALUES ('n', ?)", "0"),
  );
  await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      databases[at % 3]?.database.transaction(function* () {
        const row = yield* one("SELECT record FROM pauses WHERE subject = 'n'");
        yield* run("UPDATE pauses SET record = ?", String(Number(row?.record) + 1));
      }),
    ),
  );
  expect((await ask(address, "SELECT record FROM herdctl.pauses"))[0]).toEqual({ record: "60" });
});

describe("the fence", () => {
  const join = `INSERT INTO herdctl.nodes (id, name, role, labels, capacity, version, config_print,
    epoch, status, joined_at, heartbeat_at)
    VALUES ('n', 'n', 'all', '[]', 1, '1', 'p', 3, 'live', now(), now())`;

  test.each([
    ["another epoch", "UPDATE herdctl.nodes SET epoch = 4"],
    ["being lost", "UPDATE herdctl.nodes SET status = 'lost'"],
    ["no longer being known", "DELETE FROM herdctl.nodes"],
  ])("%s refuses every write, alone and together, and no read", async (_, change) => {
    const { database, address } = await opened();
    await ask(address, join);
    database.actAs({ id: "n", epoch: 3 });
    await database.transaction(() => addPause("before"));
    await ask(address, change);
    const fenced = { code: "node_fenced" };
    await expect(database.transaction(() => addPause("x"))).rejects.toMatchObject(fenced);
    await expect(database.together(() => addPause("x"))).rejects.toMatchObject(fenced);
    expect(await database.read(countPauses)).toBe(1);
    database.actAs(undefined);
    await database.transaction(() => addPause("after"));
  });
});

describe("the schema", () => {
  test("is made once when several nodes start at once", async () => {
    const address = await testDatabase();
    await Promise.all(Array.from({ length: 6 }, () => opened(address)));
    const rows = await ask(address, "SELECT version FROM herdctl.schema_version");
    expect(rows).toEqual([{ version: migrations.length }]);
  });

  test("of a newer herdctl is left alone", async () => {
    const { address } = await opened();
    await ask(address, "UPDATE herdctl.schema_version SET version = 99");
    await expect(openPostgres(address)).rejects.toMatchObject({ code: "state_newer" });
    const [row] = await ask(address, "SELECT version FROM herdctl.schema_version");
    expect(row?.version).toBe(99);
  });

  test("of an older one is not touched by those who only read", async () => {
    const { address } = await opened();
    await ask(address, "UPDATE herdctl.schema_version SET version = -1");
    const reading = openPostgres(address, { readOnly: true });
    await expect(reading).rejects.toMatchObject({ code: "state_older" });
  });

  test("steps that are new are taken, once", async () => {
    const { address } = await opened();
    const steps = [...migrations, "CREATE TABLE herdctl.later (n integer)"];
    const pool = new pg.Pool({ connectionString: address });
    onTestFinished(() => pool.end());
    const client = await pool.connect();
    onTestFinished(() => client.release());
    await migrate(client, parseAddress(address), steps);
    await migrate(client, parseAddress(address), steps);
    const [row] = await ask(address, "SELECT version FROM herdctl.schema_version");
    expect(row?.version).toBe(steps.length);
  });
});

describe("a wrong address", () => {
  test.each([
    ["password", (url: URL) => Object.assign(url, { password: "wrong" }), "store_refused"],
    ["no password", (url: URL) => Object.assign(url, { password: "" }), "store_refused"],
    ["database", (url: URL) => Object.assign(url, { pathname: "/nowhere" }), "store_refused"],
    ["user", (url: URL) => Object.assign(url, { username: "nobody" }), "store_refused"],
    ["port", (url: URL) => Object.assign(url, { port: "1" }), "state_unavailable"],
    ["host", (url: URL) => Object.assign(url, { hostname: "no.invalid" }), "state_unavailable"],
  ])("with a wrong %s is said in words without the password", async (_, change, code) => {
    const address = await testDatabase();
    const { password } = new URL(address);
    const error = await openPostgres(change(new URL(address)).href).catch((error) => error);
    expect(error).toMatchObject({ code });
    expect(`${error.message} ${error.hint}`).not.toContain(password);
    expect(error.message).not.toContain("wrong");
  });
});
