import { afterAll, describe, expect, test } from "vitest";
import type { Defence } from "./defence.ts";
import { defences } from "./defences.ts";
import { currentCommit, putDown, seenBefore } from "./defences-page.ts";
import { withDefences, withoutDefence } from "./remove-defence.ts";
import { Twin } from "./twin.ts";

// Asked before anything is put down: the page itself is a change.
const at = currentCommit();
let made: Twin | undefined;
const twin = () => {
  made ??= new Twin();
  return made;
};
afterAll(() => made?.remove());

const before = seenBefore();
const isDue = (name: string) => process.env.HERDCTL_DEFENCES !== "unseen" || !before.get(name)?.how;
const due = Object.values(defences)
  .flat()
  .filter(({ name }) => isDue(name));
const files = [...new Set(due.map(({ red }) => red.file))];
const limits = { timeout: 900_000, retry: 0 };

describe.each(files)("%s", (file) => {
  const own = due.filter(({ red }) => red.file === file);
  const reds = new Map<Defence, string>();

  // With %s names stay whole, so that any part of one chooses it.
  const named = own.map((defence) => [defence.name, defence] as const);
  test.each(named)("goes red without this: %s", limits, async (_name, defence) => {
    const how = await withoutDefence(twin(), defence);
    expect(how).not.toBe("");
    reds.set(defence, how);
  });

  // Not a test: one that is chosen by its name needs it, too.
  afterAll(async () => {
    if (reds.size === 0) return;
    await withDefences(twin(), [...reds.keys()]);
    for (const [{ name }, how] of reds) putDown(name, how, at);
  }, limits.timeout);
});
