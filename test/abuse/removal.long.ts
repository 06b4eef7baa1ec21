import { afterAll, describe, expect, test } from "vitest";
import { defences } from "./defences.ts";
import { putDown } from "./defences-page.ts";
import { withDefences, withoutDefence } from "./remove-defence.ts";
import { Twin } from "./twin.ts";

const all = Object.values(defences).flat();
const twin = new Twin();
afterAll(() => twin.remove());

const sound = new Map<string, Promise<void>>();

/** All that a file is to show, seen once with every defence in its place. */
function soundness(file: string): Promise<void> {
  const own = all.filter(({ red }) => red.file === file);
  const known = sound.get(file) ?? withDefences(twin, own);
  sound.set(file, known);
  return known;
}

describe.each(Object.entries(defences))("%s", (_area, own) => {
  test.each(own)("without this a test goes red: $name", { timeout: 600_000 }, async (defence) => {
    await soundness(defence.red.file);
    expect(await withoutDefence(twin, defence)).not.toBe("");
    process.stdout.write(`missed: ${defence.name}\n`);
    putDown([defence.name]);
  });
});
