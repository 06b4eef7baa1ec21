import { expect, test } from "vitest";
import {
  findExcerpt,
  toFts5Query,
  toSearchTerms,
  toTsQuery,
} from "../../packages/core/src/store/model/search-text.ts";

test("reads words and terms of several words, whatever characters separate them", () => {
  const terms = toSearchTerms('  src/cart.ts "max_turns" Größe ' + "' -- *");
  expect(terms).toEqual([["src", "cart", "ts"], ["max", "turns"], ["größe"]]);
  expect(toFts5Query(terms)).toBe('"src cart ts" "max turns"* "größe"*');
  expect(toTsQuery(terms)).toBe(
    "('src' <-> 'cart' <-> 'ts') & ('max' <-> 'turns':*) & ('größe':*)",
  );
});

test("takes one or two letters as a whole word, but not one or two characters of other scripts", () => {
  expect(toFts5Query(toSearchTerms("w ci 検索 car"))).toBe('"w" "ci" "検索"* "car"*');
  expect(toTsQuery(toSearchTerms("w 検 car"))).toBe("('w') & ('検':*) & ('car':*)");
});

test("shows the text around the first word as one line", () => {
  const texts = {
    prompt: "Fix it.",
    summary: "",
    output: `${"a ".repeat(200)}\nmax_turns\nwas hit`,
  };
  const { field, excerpt } = findExcerpt(texts, toSearchTerms("max-turn"));
  expect(field).toBe("output");
  expect(excerpt).toMatch(/^…a .*max_turns was hit$/);
});
