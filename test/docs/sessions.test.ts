import { expect, test } from "vitest";
import { stage } from "../support/stage.ts";
import { sliceOf } from "../support/width.ts";
import { blocksOf, pages } from "./blocks.ts";
import { replay } from "./session.ts";

/** The first of them in the usual round: they are what somebody new types first. */
const first = ["docs/start.md", "docs/rehearsing-in-ci.md"];
const others = pages.filter((page) => hasSession(page) && !first.includes(page));

test.each(sliceOf([...first, ...others], first.length))(
  "what %s types answers as it says",
  async (page) => {
    const { rehearsal } = await stage();
    expect(await replay(blocksOf(page), rehearsal.env())).toEqual([]);
  },
  240_000,
);

test("from nothing to an agent of one's own is under ten commands", () => {
  const shown = blocksOf("docs/start.md").filter(({ language }) =>
    ["sh", "console"].includes(language),
  );
  const [demo = "", ...sessions] = shown.map(({ text }) => text).slice(0, 3);
  const typed = sessions.flatMap((text) => text.match(/^\$ /gm) ?? []);
  expect(demo.trim().split("\n").length + typed.length).toBeLessThan(10);
});

test("a page whose session answers otherwise is noticed", async () => {
  const says = (text: string) => [{ page: "none.md", line: 1, language: "console", text }];
  expect(await replay(says("$ echo one; echo two; echo three\none\n…\nthree\n"), {})).toEqual([]);
  expect(await replay(says("$ echo one\ntwo\n$ true\n"), {})).toEqual([
    { typed: "echo one", quoted: ["two"], shown: ["one"] },
  ]);
});

function hasSession(page: string): boolean {
  return blocksOf(page).some(({ language }) => language === "console");
}
