import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defences } from "./defences.ts";
import { putDown } from "./defences-page.ts";
import { withDefences, withoutDefence } from "./remove-defence.ts";
import { Twin } from "./twin.ts";

const twin = new Twin();
afterAll(() => twin.remove());

describe.each(Object.entries(defences))("%s", (_area, own) => {
  beforeAll(() => withDefences(twin, own), 1_200_000);

  test.each(own)("without this a test goes red: $name", { timeout: 400_000 }, async (defence) => {
    expect(await withoutDefence(twin, defence)).not.toBe("");
    process.stdout.write(`missed: ${defence.name}\n`);
    putDown([defence.name]);
  });
});
