import { describe, expect, onTestFinished, test } from "vitest";
import { openPostgres } from "../../../packages/core/src/store/postgres/open.ts";
import { execute, queryRow, queryRows } from "../../../packages/core/src/store/sql/sql-program.ts";
import { waitUntil } from "../../support/fleet-child-process.ts";
import { createTestDatabase, queryDatabase, startPrivatePostgres } from "../../support/postgres.ts";
import { proxiedAddress, startTcpProxy } from "../../support/tcp-proxy.ts";

const addPause = (subject: string) =>
  execute("INSERT INTO pauses (subject, record) VALUES (?, ?)", subject, "{}");
const countPauses = function* () {
  return Number((yield* queryRow("SELECT count(*) AS n FROM pauses"))?.n);
};
const unavailableError = { code: "state_unavailable" };

async function openBehindProxy() {
  const address = await createTestDatabase();
  const proxy = await startTcpProxy(Number(new URL(address).port));
  const opened = await openPostgres(proxiedAddress(proxy, address));
  onTestFinished(opened.close);
  return { ...opened, proxy, address };
}

test("uses a restarted server again without an error", async () => {
  const server = await startPrivatePostgres();
  const { database, close } = await openPostgres(server.address);
  onTestFinished(close);
  await database.transaction(() => addPause("a"));
  await server.stop();
  await expect(database.transaction(() => addPause("b"))).rejects.toMatchObject(unavailableError);
  await expect(database.read(countPauses)).rejects.toMatchObject(unavailableError);
  await expect(database.groupCommit(() => addPause("b"))).rejects.toMatchObject(unavailableError);
  await server.start();
  await database.transaction(() => addPause("c"));
  expect(await database.read(countPauses)).toBe(2);
  await server.kill();
  await server.start();
  expect(await database.read(countPauses)).toBe(2);
});

test("replaces connections that died while idle", async () => {
  const { database, proxy } = await openBehindProxy();
  await Promise.all(["a", "b"].map((subject) => database.transaction(() => addPause(subject))));
  proxy.cut();
  await database.transaction(() => addPause("c"));
  proxy.cut();
  expect(await database.read(countPauses)).toBe(3);
});

test("repeats a transaction once after losing its connection", async () => {
  const { database, proxy } = await openBehindProxy();
  let rounds = 0;
  await database.transaction(function* () {
    rounds += 1;
    yield* addPause("a");
    if (rounds === 1) proxy.cut();
    yield* addPause("b");
  });
  expect(rounds).toBe(2);
  expect(await database.read(countPauses)).toBe(2);
});

describe("lost response to a commit", () => {
  test("asks the server for the result and does not repeat a committed transaction", async () => {
    const { database, proxy, address } = await openBehindProxy();
    await queryDatabase(address, slowCommit);
    const written = database.transaction(() => addPause("a"));
    await waitUntil("the commit to start", () => isCommitting(address));
    proxy.cut();
    await written;
    expect(await database.read(countPauses)).toBe(1);
  });

  test("repeats a transaction that was rolled back", async () => {
    const { database, proxy, address } = await openBehindProxy();
    await queryDatabase(address, slowCommit);
    const written = database.transaction(() => addPause("a"));
    await waitUntil("the commit to start", () => isCommitting(address));
    await queryDatabase(
      address,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'COMMIT'",
    );
    proxy.cut();
    await written;
    expect(await database.read(countPauses)).toBe(1);
  });

  /** A slow deferred check at the end of the transaction. */
  const slowCommit = `
    CREATE FUNCTION herdctl.slowly() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(1.5); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER slowly AFTER INSERT ON herdctl.pauses
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION herdctl.slowly()`;

  async function isCommitting(address: string): Promise<boolean> {
    const sql = "SELECT 1 FROM pg_stat_activity WHERE query = 'COMMIT' AND state = 'active'";
    return (await queryDatabase(address, sql)).length > 0;
  }
});

test("replaces a half-open connection", async () => {
  const { database, proxy } = await openBehindProxy();
  await database.transaction(() => addPause("a"));
  proxy.silence();
  const began = Date.now();
  await expect(database.read(countPauses)).rejects.toMatchObject(unavailableError);
  expect(Date.now() - began).toBeLessThan(20_000);
  await proxy.restore();
  expect(await database.read(countPauses)).toBe(1);
});

test("limits the wait for a half-open connection for urgent calls", async () => {
  const { database, proxy } = await openBehindProxy();
  await database.runUnfenced(() => addPause("a"), 1_000);
  proxy.silence();
  const began = Date.now();
  const second = database.runUnfenced(() => addPause("b"), 1_000);
  await proxy.restore();
  await second;
  expect(Date.now() - began).toBeLessThan(5_000);
  expect(await database.read(countPauses)).toBe(2);
});

test("limits how long a node that hangs in a write blocks the others", async () => {
  const { database, proxy, address } = await openBehindProxy();
  const other = await openPostgres(address);
  onTestFinished(other.close);
  const stuck = database.transaction(function* () {
    yield* addPause("a");
    proxy.silence();
    yield* addPause("b");
  });
  stuck.catch(() => undefined);
  await waitUntil("it has the lock", async () => {
    const sql = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted";
    return (await queryDatabase(address, sql)).length > 0;
  });
  await other.database.transaction(() => addPause("c"));
  expect(await other.database.read(countPauses)).toBe(1);
  await expect(stuck).rejects.toMatchObject(unavailableError);
});

test("cancels a slow statement", async () => {
  const { database } = await openBehindProxy();
  await expect(database.read(() => queryRows("SELECT pg_sleep(30)"))).rejects.toMatchObject(
    unavailableError,
  );
  expect(await database.read(countPauses)).toBe(0);
});

test("leaves nothing open after closing, even on a dead connection", async () => {
  const { database, close, proxy } = await openBehindProxy();
  await database.read(countPauses);
  proxy.silence();
  const began = Date.now();
  await close();
  expect(Date.now() - began).toBeLessThan(5_000);
  await expect(database.read(countPauses)).rejects.toMatchObject(unavailableError);
});
