import { expect, test } from "vitest";
import { Database } from "../../packages/core/src/state/sqlite/database.ts";
import { SharedTransaction } from "../../packages/core/src/state/sqlite/shared-transaction.ts";
import { memoryStores, onCleanup } from "./support.ts";

function counted() {
  const database = new Database(":memory:");
  onCleanup(() => database.close());
  database.exec("CREATE TABLE words (word TEXT NOT NULL UNIQUE)");
  let transactions = 0;
  const shared = new SharedTransaction((work) => {
    transactions += 1;
    database.atOnce(work);
  });
  return {
    shared,
    add: (word: string) =>
      shared.join(() => database.run("INSERT INTO words (word) VALUES (?)", word)),
    words: () => database.all("SELECT word FROM words ORDER BY word").map(({ word }) => word),
    transactions: () => transactions,
  };
}

test("what is asked for at once is one transaction", async () => {
  const { add, words, transactions } = counted();
  await Promise.all(["a", "b", "c"].map(add));
  expect(transactions()).toBe(1);
  await add("d");
  expect(transactions()).toBe(2);
  expect(words()).toEqual(["a", "b", "c", "d"]);
});

test("who fails among others fails alone, and theirs is kept once", async () => {
  const { add, words, transactions } = counted();
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

test("what waits when the database is closed is kept first", async () => {
  const { shared, add, words } = counted();
  const added = add("last");
  expect(words()).toEqual([]);
  shared.commit();
  expect(words()).toEqual(["last"]);
  await added;
});

test("jobs that are admitted at once heed the budget together", async () => {
  const { jobs } = memoryStores();
  const day = { name: "2030-01-01", start: new Date("2030-01-01") };
  const decide: Parameters<typeof jobs.admit>[0]["decide"] = ({ spending }) =>
    (spending?.fleet.jobs ?? 0) < 3
      ? { kind: "accept", cancel: [] }
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
