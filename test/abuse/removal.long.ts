import { afterAll, describe, expect, test } from "vitest";
import { defences } from "./defences.ts";
import { currentCommit, putDown, seenBefore } from "./defences-page.ts";
import { withoutDefence } from "./remove-defence.ts";
import { Twin } from "./twin.ts";

// Asked when the copy is made: the page itself is a change.
const at = currentCommit();
const twin = new Twin();
afterAll(() => twin.remove());

const before = seenBefore();
const isDue = (name: string) => process.env.HERDCTL_DEFENCES !== "unseen" || !before.has(name);
const areas = Object.entries(defences)
  .map(([area, own]) => [area, own.filter(({ name }) => isDue(name))] as const)
  .filter(([, own]) => own.length > 0);

describe.each(areas)("%s", (_area, own) => {
  test.each(own)(
    "without this a test goes red: $name",
    { timeout: 900_000, retry: 0 },
    async (defence) => {
      const how = await withoutDefence(twin, defence);
      expect(how).not.toBe("");
      process.stdout.write(`missed: ${defence.name}: ${how}\n`);
      putDown(defence.name, how, at);
    },
  );
});
