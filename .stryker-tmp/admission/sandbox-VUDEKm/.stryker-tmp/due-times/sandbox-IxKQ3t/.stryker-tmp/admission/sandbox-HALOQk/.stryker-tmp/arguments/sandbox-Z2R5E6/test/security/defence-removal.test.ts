import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { CheckoutCopy } from "./checkout-copy.ts";
import type { Defence } from "./defence.ts";
import { defences } from "./defences.ts";
import { pagePath, readRecordedRemovals, renderPage } from "./defences-report.ts";
import { expectPassWithDefences, failureWithoutDefence } from "./remove-defence.ts";
import { applyEdit, findMarks, syntaxErrors } from "./source-edit.ts";

const checkout = resolve(import.meta.dirname, "../..");
const allDefences = Object.values(defences).flat();

test("has one mark in the source, a matching edit and a test for every defence", () => {
  expect(allDefences.length).toBeGreaterThan(80);
  expect(new Set(allDefences.map(({ name }) => name)).size).toBe(allDefences.length);
  const marks = findMarks(checkout);
  expect([...marks.keys()].sort()).toEqual(allDefences.map(({ mark }) => mark).sort());
  for (const defence of allDefences) {
    const files = marks.get(defence.mark) ?? [];
    expect([defence.mark, files]).toEqual([defence.mark, [expect.any(String)]]);
    const text = readFileSync(join(checkout, files[0] ?? ""), "utf8");
    const without = applyEdit(text, defence);
    expect(without).not.toBe(text);
    expect([defence.mark, syntaxErrors(without)]).toEqual([defence.mark, []]);
    const { file } = defence.failingTest;
    expect([file, existsSync(join(checkout, file))]).toEqual([file, true]);
  }
});

test("lists every defence in docs/proof/defences.md with its last removal", () => {
  expect(readFileSync(pagePath, "utf8")).toBe(renderPage(readRecordedRemovals()));
});

/** A sample; `npm run test:removal` removes all of them. */
const sampleDefences = [
  "agent files are checked against the fleet file",
  "a text cannot contain the mark that ends it",
];

let checkoutCopy: CheckoutCopy | undefined;
afterAll(() => checkoutCopy?.remove());

test.each(sampleDefences)(
  "fails a test without this defence: %s",
  { timeout: 300_000 },
  async (name) => {
    const defence =
      allDefences.find((one) => one.name === name) ?? expect.fail("it is not in the table");
    checkoutCopy ??= new CheckoutCopy();
    expect(await failureWithoutDefence(checkoutCopy, defence)).toMatch(/^AssertionError/);
    await expectPassWithDefences(checkoutCopy, [defence]);
  },
);

test("distinguishes an unnoticed removal and a broken edit from a defence", {
  timeout: 300_000,
}, async () => {
  const copy = checkoutCopy ?? new CheckoutCopy();
  checkoutCopy = copy;
  const failingTest = { file: "test/jobs/budgets.test.ts", test: "is used up" };
  const edited = (without: string, mark = "daily-budget") =>
    failureWithoutDefence(copy, {
      name: "",
      protects: "",
      mark,
      without,
      failingTest: failingTest,
    } satisfies Defence);
  await expect(edited("true && ($0)")).rejects.toThrow("no test fails");
  await expect(edited("missing ?? ($0)")).rejects.toThrow("breaks the program");
  await expect(edited("", "no-such-mark")).rejects.toThrow("no mark no-such-mark");
});
