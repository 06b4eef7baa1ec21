import { afterAll, describe, expect, test } from "vitest";
import { CheckoutCopy } from "./checkout-copy.ts";
import type { Defence } from "./defence.ts";
import { defences } from "./defences.ts";
import { currentCommit, readRecordedRemovals, recordRemoval } from "./defences-report.ts";
import { expectPassWithDefences, failureWithoutDefence } from "./remove-defence.ts";

// Read first, because writing the page changes the checkout.
const commit = currentCommit();
let copy: CheckoutCopy | undefined;
const getCheckoutCopy = () => {
  copy ??= new CheckoutCopy();
  return copy;
};
afterAll(() => copy?.remove());

const recordedRemovals = readRecordedRemovals();
const isDue = (name: string) =>
  process.env.HERDCTL_DEFENCES !== "unseen" || !recordedRemovals.get(name)?.failureMessage;
const dueDefences = Object.values(defences)
  .flat()
  .filter(({ name }) => isDue(name));
const files = [...new Set(dueDefences.map(({ failingTest }) => failingTest.file))];
const limits = { timeout: 900_000, retry: 0 };

describe.each(files)("%s", (file) => {
  const own = dueDefences.filter(({ failingTest }) => failingTest.file === file);
  const failures = new Map<Defence, string>();

  // With %s vitest keeps the whole name, so that `-t` matches any part of it.
  const named = own.map((defence) => [defence.name, defence] as const);
  test.each(named)("fails without this defence: %s", limits, async (_name, defence) => {
    const how = await failureWithoutDefence(getCheckoutCopy(), defence);
    expect(how).not.toBe("");
    failures.set(defence, how);
  });

  // An afterAll hook, because a test would be skipped when `-t` selects another.
  afterAll(async () => {
    if (failures.size === 0) return;
    await expectPassWithDefences(getCheckoutCopy(), [...failures.keys()]);
    for (const [{ name }, how] of failures) recordRemoval(name, how, commit);
  }, limits.timeout);
});
