import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Defence } from "./defence.ts";
import { defences } from "./defences.ts";
import { pageOf, pagePath, seenBefore } from "./defences-page.ts";
import { edited } from "./edit.ts";
import { withDefences, withoutDefence } from "./remove-defence.ts";
import { Twin } from "./twin.ts";

const checkout = resolve(import.meta.dirname, "../..");
const all = Object.values(defences).flat();

test("every defence of the table is where the table says, once, and so is its test", () => {
  expect(all.length).toBeGreaterThan(80);
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  for (const { edit, red } of all) {
    edited(readFileSync(join(checkout, edit.file), "utf8"), edit);
    expect([red.file, existsSync(join(checkout, red.file))]).toEqual([red.file, true]);
  }
});

test("docs/proof/defences.md tells of each of them, and whether it was seen to be missed", () => {
  expect(readFileSync(pagePath, "utf8")).toBe(pageOf(seenBefore()));
});

/** A few; `npm run test:removal` takes away all of them. */
const few = [
  "agent files are held against the fleet file",
  "a text cannot hold the mark that ends it",
];

let twin: Twin | undefined;
afterAll(() => twin?.remove());

test.each(few)("without this a test goes red: %s", { timeout: 300_000 }, async (name) => {
  const defence = all.find((one) => one.name === name) ?? expect.fail("it is not in the table");
  twin ??= new Twin();
  expect(await withoutDefence(twin, defence)).toMatch(/^AssertionError/);
  await withDefences(twin, [defence]);
});

test("what nobody notices, and an edit that breaks the program, are told from a defence", {
  timeout: 300_000,
}, async () => {
  const copy = twin ?? new Twin();
  twin = copy;
  const file = "packages/core/src/queue/budget.ts";
  const red = { file: "test/queue/budgets.test.ts", test: "is used up" };
  const without = (from: string, to: string) =>
    withoutDefence(copy, { name: "", guards: "", edit: { file, from, to }, red } satisfies Defence);
  const smallest = "const smallest = 1e-6;";
  await expect(without(smallest, `${smallest}\nvoid 0;`)).rejects.toThrow("nobody notices");
  const broken = "throw new ReferenceError(String(budget));";
  const head = "const uses: Record<keyof Amounts";
  await expect(without(head, `${broken}\n  ${head}`)).rejects.toThrow("breaks the program");
  await expect(without("nothing like it", "")).rejects.toThrow("should have one");
});
