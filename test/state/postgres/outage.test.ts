import { describe, expect, onTestFinished, test } from "vitest";
import { openPostgres } from "../../../packages/core/src/state/postgres/open.ts";
import { all, one, run } from "../../../packages/core/src/state/sql/steps.ts";
import { until } from "../../support/fleet-program.ts";
import { ask, ownPostgres, testDatabase } from "../../support/postgres.ts";
import { proxyTo, through } from "../../support/proxy.ts";

const add = (subject: string) =>
  run("INSERT INTO pauses (subject, record) VALUES (?, ?)", subject, "{}");
const count = function* () {
  return Number((yield* one("SELECT count(*) AS n FROM pauses"))?.n);
};
const away = { code: "state_unavailable" };

async function behindProxy() {
  const address = await testDatabase();
  const proxy = await proxyTo(Number(new URL(address).port));
  const opened = await openPostgres(through(proxy, address));
  onTestFinished(opened.close);
  return { ...opened, proxy, address };
}

test("a server that was restarted is used again, and nobody is told", async () => {
  const server = await ownPostgres();
  const { database, close } = await openPostgres(server.address);
  onTestFinished(close);
  await database.transaction(() => add("a"));
  await server.stop();
  await expect(database.transaction(() => add("b"))).rejects.toMatchObject(away);
  await expect(database.read(count)).rejects.toMatchObject(away);
  await expect(database.together(() => add("b"))).rejects.toMatchObject(away);
  await server.start();
  await database.transaction(() => add("c"));
  expect(await database.read(count)).toBe(2);
  await server.kill();
  await server.start();
  expect(await database.read(count)).toBe(2);
});

test("connections that died while nobody used them are no trouble", async () => {
  const { database, proxy } = await behindProxy();
  await Promise.all(["a", "b"].map((subject) => database.transaction(() => add(subject))));
  proxy.cut();
  await database.transaction(() => add("c"));
  proxy.cut();
  expect(await database.read(count)).toBe(3);
});

test("a connection lost within a transaction: it is done anew, once", async () => {
  const { database, proxy } = await behindProxy();
  let rounds = 0;
  await database.transaction(function* () {
    rounds += 1;
    yield* add("a");
    if (rounds === 1) proxy.cut();
    yield* add("b");
  });
  expect(rounds).toBe(2);
  expect(await database.read(count)).toBe(2);
});

describe("when the answer to a commit is lost", () => {
  test("the server is asked what became of it: kept is kept, and not done twice", async () => {
    const { database, proxy, address } = await behindProxy();
    await ask(address, slowCommit);
    const written = database.transaction(() => add("a"));
    await until("the commit is under way", () => isCommitting(address));
    proxy.cut();
    await written;
    expect(await database.read(count)).toBe(1);
  });

  test("undone is done anew", async () => {
    const { database, proxy, address } = await behindProxy();
    await ask(address, slowCommit);
    const written = database.transaction(() => add("a"));
    await until("the commit is under way", () => isCommitting(address));
    await ask(
      address,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'COMMIT'",
    );
    proxy.cut();
    await written;
    expect(await database.read(count)).toBe(1);
  });

  /** A check at the end of the transaction that takes a while. */
  const slowCommit = `
    CREATE FUNCTION herdctl.slowly() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(1.5); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER slowly AFTER INSERT ON herdctl.pauses
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION herdctl.slowly()`;

  async function isCommitting(address: string): Promise<boolean> {
    const sql = "SELECT 1 FROM pg_stat_activity WHERE query = 'COMMIT' AND state = 'active'";
    return (await ask(address, sql)).length > 0;
  }
});

test("a line that is half open is given up, and a new one is made", async () => {
  const { database, proxy } = await behindProxy();
  await database.transaction(() => add("a"));
  proxy.silence();
  const began = Date.now();
  await expect(database.read(count)).rejects.toMatchObject(away);
  expect(Date.now() - began).toBeLessThan(20_000);
  await proxy.restore();
  expect(await database.read(count)).toBe(1);
});

test("who is in a hurry does not wait that long for a line that is half open", async () => {
  const { database, proxy } = await behindProxy();
  await database.unfenced(() => add("a"), 1_000);
  proxy.silence();
  const began = Date.now();
  const second = database.unfenced(() => add("b"), 1_000);
  await proxy.restore();
  await second;
  expect(Date.now() - began).toBeLessThan(5_000);
  expect(await database.read(count)).toBe(2);
});

test("a node that stands still within a write does not hold up the others for long", async () => {
  const { database, proxy, address } = await behindProxy();
  const other = await openPostgres(address);
  onTestFinished(other.close);
  const stuck = database.transaction(function* () {
    yield* add("a");
    proxy.silence();
    yield* add("b");
  });
  stuck.catch(() => undefined);
  await until("it has the lock", async () => {
    const sql = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted";
    return (await ask(address, sql)).length > 0;
  });
  await other.database.transaction(() => add("c"));
  expect(await other.database.read(count)).toBe(1);
  await expect(stuck).rejects.toMatchObject(away);
});

test("a statement that takes too long is given up", async () => {
  const { database } = await behindProxy();
  await expect(database.read(() => all("SELECT pg_sleep(30)"))).rejects.toMatchObject(away);
  expect(await database.read(count)).toBe(0);
});

test("after it is closed nothing is left open, even on a dead line", async () => {
  const { database, close, proxy } = await behindProxy();
  await database.read(count);
  proxy.silence();
  const began = Date.now();
  await close();
  expect(Date.now() - began).toBeLessThan(5_000);
  await expect(database.read(count)).rejects.toMatchObject(away);
});
