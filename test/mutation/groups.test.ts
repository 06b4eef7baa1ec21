import { existsSync, globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import accepted from "./accepted-survivors.json" with { type: "json" };
import groups from "./groups.json" with { type: "json" };

const root = resolve(import.meta.dirname, "../..");
const mutated = Object.values(groups).flatMap(({ mutate }) => mutate);

test.each(Object.entries(groups))("finds the files of the group %s", (_, { mutate, tests }) => {
  for (const pattern of mutate) expect(globSync(pattern, { cwd: root }), pattern).not.toEqual([]);
  expect(tests.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test("accepts only survivors in code that is mutated, each with a reason", () => {
  const files = mutated.flatMap((pattern) => globSync(pattern, { cwd: root }));
  for (const { file, original, reason } of accepted) {
    expect(files).toContain(file);
    const source = readFileSync(join(root, file), "utf8").replaceAll(/\s+/g, " ");
    expect(source).toContain(original.replace(/…$/, ""));
    expect(reason).not.toBe("");
  }
});
