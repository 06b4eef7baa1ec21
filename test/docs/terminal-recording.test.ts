import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { renderAnimatedSvg } from "../../scripts/recording/animated-svg.mjs";
import { recordFilm } from "../../scripts/recording/record-film.mjs";

const size = { columns: 40, rows: 4 };
const terminalFilm = (...chunks: [at: number, text: string][]) =>
  recordFilm(
    "run",
    chunks.map(([at, text]) => ({ at, text })),
    size,
  );
const textsOf = (row: { runs: { text: string }[] }[] = []) =>
  row.map(({ runs }) => runs.map(({ text }) => text).join(""));

test("shows a line that is drawn over before and after", async () => {
  const { rows } = await terminalFilm([0, "one\r\n"], [0.5, "\x1b[1A\r\x1b[0Jtwo\r\n"]);
  expect(textsOf(rows[1])).toEqual(["one", "two"]);
  const [first, second] = rows[1] ?? [];
  expect(first?.until).toBe(second?.from);
});

test("shortens long pauses and keeps the row of what scrolls away", async () => {
  const { rows, scrolls, length } = await terminalFilm([0, "a\r\nb\r\n"], [60, "c\r\nd\r\ne"]);
  expect(length).toBeLessThan(10);
  expect(rows.slice(1).map((row) => textsOf(row)[0])).toEqual(["a", "b", "c", "d", "e"]);
  expect(scrolls.at(-1)?.by).toBe(2);
});

test.each([
  ["whole", ["see http://h/login#abc-DEF_9 now"]],
  ["split in two", ["see http://h/login#abc", "-DEF_9 now"]],
  ["split before its first character", ["see http://h/login#", "abc-DEF_9 now"]],
])("removes the token of a sign-in link that comes %s", async (_, pieces) => {
  const shown = JSON.stringify(
    await terminalFilm(...pieces.map((text): [number, string] => [0, text])),
  );
  expect(shown).toContain("login#…");
  expect(shown).toContain("now");
  expect(shown).not.toMatch(/abc|DEF_9/);
});

test("has every colour and character and no script in the picture", async () => {
  const recording = await terminalFilm([0, "\x1b[32m✓\x1b[39m a < b && \x1b[2mc\x1b[22m\r\n"]);
  const picture = renderAnimatedSvg(recording, { title: "a run", ...size });
  expect(picture).toContain('class="c2">✓</text>');
  expect(picture).toContain("a &lt; b &amp;&amp;");
  expect(picture).toMatch(/@keyframes t\d+/);
  expect(picture).not.toContain("<script");
});

test("shows in the demo recording what the README quotes", () => {
  const read = (path: string) => readFileSync(resolve(import.meta.dirname, "../..", path), "utf8");
  const [, quoted = ""] = /Shortened:\n\n```\n([\s\S]*?)```/.exec(read("README.md")) ?? [];
  const unvarying = quoted.split("\n").filter((line) => line !== "" && !/\d{2}|\$|…/.test(line));
  expect(unvarying.length).toBeGreaterThan(3);
  const rows = read("docs/pictures/demo.svg").matchAll(/<g class="[^"]*t\d+">(.*)<\/g>/g);
  const shown = [...rows].map(([, row = ""]) => wordsOf(row.replaceAll(/<[^>]+>/g, " ")));
  const missing = unvarying.map(wordsOf).filter((line) => !shown.includes(line));
  expect(missing).toEqual([]);
});

function wordsOf(text: string): string {
  return text.trim().split(/\s+/).join(" ");
}
