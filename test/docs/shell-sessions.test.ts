import { expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { testSubset } from "../support/test-subset.ts";
import { codeBlocksOf, pages } from "./code-blocks.ts";
import { replaySession } from "./replay-shell-session.ts";

/** The usual test run covers these, because new users type them first. */
const tutorialPages = ["docs/tutorials/start.md", "docs/guides/rehearsing-in-ci.md"];
const otherPages = pages.filter((page) => hasSession(page) && !tutorialPages.includes(page));

test.each(testSubset([...tutorialPages, ...otherPages], tutorialPages.length))(
  "gives the documented answers to the commands of %s",
  async (page) => {
    const { rehearsal } = await startHarness();
    expect(await replaySession(codeBlocksOf(page), rehearsal.env())).toEqual([]);
  },
  240_000,
);

test("creates a custom agent from nothing in under ten commands", () => {
  const shown = codeBlocksOf("docs/tutorials/start.md").filter(({ language }) =>
    ["sh", "console"].includes(language),
  );
  const [demo = "", ...sessions] = shown.map(({ text }) => text).slice(0, 3);
  const typed = sessions.flatMap((text) => text.match(/^\$ /gm) ?? []);
  expect(demo.trim().split("\n").length + typed.length).toBeLessThan(10);
});

test("reports a page whose session answers differently", async () => {
  const consoleBlock = (text: string) => [{ page: "none.md", line: 1, language: "console", text }];
  expect(
    await replaySession(consoleBlock("$ echo one; echo two; echo three\none\n…\nthree\n"), {}),
  ).toEqual([]);
  expect(await replaySession(consoleBlock("$ echo one\ntwo\n$ true\n"), {})).toEqual([
    { command: "echo one", expectedLines: ["two"], actualLines: ["one"] },
  ]);
});

function hasSession(page: string): boolean {
  return codeBlocksOf(page).some(({ language }) => language === "console");
}
