import { expect, test } from "vitest";
import { openStores } from "./test-stores.ts";

const succeeded = {
  status: "completed" as const,
  outcome: { code: "success" as const, message: "Done.", hint: "" },
};

test("finds finished jobs by all words of their prompt, summary and output, newest first", async () => {
  const { jobs, search, time } = await openStores();
  const finish = async (agent: string, prompt: string, output: string) => {
    time.now += 1_000;
    const { job } = await jobs.create({ agent, prompt });
    await jobs.startAttempt(job.id);
    await jobs.update(job.id, succeeded);
    expect(await search.listMissing()).toContain(job.id);
    await search.add(new Map([[job.id, { prompt, summary: `Did: ${prompt}`, output }]]));
    return job.id;
  };
  const cart = await finish("coder", "Fix src/cart.ts", "AssertionError in Größe\0 it's");
  const report = await finish("writer", "Write the report", "cart totals are wrong");
  expect(await search.listMissing()).toEqual([]);

  const find = async (text: string, more = {}) =>
    (await search.search({ text, limit: 10, ...more })).hits.map(({ job, field }) => [
      job.id,
      field,
    ]);
  expect(await find("cart")).toEqual([
    [report, "output"],
    [cart, "summary"],
  ]);
  expect(await find("CART", { agent: "coder" })).toEqual([[cart, "summary"]]);
  expect(await find("src/cart.ts")).toEqual([[cart, "summary"]]);
  expect(await find("cart.src")).toEqual([]);
  expect(await find("assertionerr größe")).toEqual([[cart, "output"]]);
  expect(await find("report cart")).toEqual([[report, "summary"]]);
  expect(await find("art")).toEqual([]);
  expect(await find(`"' OR * - ( NEAR`)).toEqual([]);
  expect(await find("***")).toEqual([]);

  const first = await search.search({ text: "cart", limit: 1 });
  expect(first.hits[0]?.excerpt).toContain("cart totals");
  const second = await search.search({ text: "cart", limit: 1, cursor: first.next_cursor ?? "" });
  expect([second.hits[0]?.job.id, second.next_cursor]).toEqual([cart, null]);
});

test("finds unfinished jobs by their prompt, and forgets removed ones", async () => {
  const { jobs, search, time } = await openStores();
  const { job } = await jobs.create({ agent: "coder", prompt: "Look for unicorns" });
  const find = async (text: string) => (await search.search({ text, limit: 10 })).hits.length;
  expect(await find("unicorn")).toBe(1);
  expect(await find("pending")).toBe(0);

  await jobs.startAttempt(job.id);
  await jobs.update(job.id, succeeded);
  expect(await find("unicorn")).toBe(0);
  await search.add(new Map([[job.id, { prompt: job.prompt, summary: "", output: "" }]]));
  expect(await find("unicorn")).toBe(1);

  time.now += 90 * 24 * 3_600_000;
  await jobs.prune({ finishedBefore: new Date(time.now - 1), limit: 10 });
  expect(await jobs.get(job.id)).toBeUndefined();
  expect(await find("unicorn")).toBe(0);
});
