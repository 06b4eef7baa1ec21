import { expect, test } from "vitest";
import { SqliteDatabase } from "../../packages/core/src/store/sqlite/database.ts";
import { SqliteGroupCommit } from "../../packages/core/src/store/sqlite/group-commit.ts";
import { memoryStores, onCleanup } from "./test-stores.ts";

function createCountingDatabase() {
  const database = new SqliteDatabase(":memory:");
  onCleanup(() => database.close());
  database.exec("CREATE TABLE words (word TEXT NOT NULL UNIQUE)");
  let transactions = 0;
  const shared = new SqliteGroupCommit((work) => {
    transactions += 1;
    database.transactionSync(work);
  });
  return {
    shared,
    add: (word: string) =>
      shared.add(() => database.run("INSERT INTO words (word) VALUES (?)", word)),
    words: () => database.all("SELECT word FROM words ORDER BY word").map(({ word }) => word),
    transactions: () => transactions,
  };
}

test("combines concurrent requests in one transaction", async () => {
  const { add, words, transactions } = createCountingDatabase();
  await Promise.all(["a", "b", "c"].map(add));
  expect(transactions()).toBe(1);
  await add("d");
  expect(transactions()).toBe(2);
  expect(words()).toEqual(["a", "b", "c", "d"]);
});

test("fails a failing request alone and keeps the others once", async () => {
  const { add, words, transactions } = createCountingDatabase();
  const all = await Promise.allSettled(["a", "b", "a", "c"].map(add));
  expect(all.map(({ status }) => status)).toEqual([
    "fulfilled",
    "fulfilled",
    "rejected",
    "fulfilled",
  ]);
  expect(words()).toEqual(["a", "b", "c"]);
  expect(transactions()).toBe(5);
});

test("writes pending requests before the database is closed", async () => {
  const { shared, add, words } = createCountingDatabase();
  const added = add("last");
  expect(words()).toEqual([]);
  shared.flush();
  expect(words()).toEqual(["last"]);
  await added;
});

test("applies the budget to jobs that are admitted concurrently", async () => {
  const { jobs } = memoryStores();
  const day = { name: "2030-01-01", start: new Date("2030-01-01") };
  const decide: Parameters<typeof jobs.admit>[0]["decide"] = ({ spending }) =>
    (spending?.fleet.jobs ?? 0) < 3
      ? { kind: "accept", jobsToCancel: [] }
      : { kind: "skip", outcome: { code: "budget_exceeded", message: "m", hint: "h" } };
  const job = { agent: "coder", prompt: "p" };
  const admit = () => jobs.admit({ job, decide, day });
  const all = await Promise.all([1, 2, 3, 4, 5].map(admit));
  expect(all.map((one) => one.job.status)).toEqual([
    "pending",
    "pending",
    "pending",
    "skipped",
    "skipped",
  ]);
});
