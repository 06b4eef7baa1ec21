import { V8CoverageProvider } from "@vitest/coverage-v8/dist/provider.js";
import type { FileCoverageData } from "istanbul-lib-coverage";
import { expect, it } from "vitest";
import { mergeCoverage } from "./merge-coverage.ts";

it("adds coverage of a built program where the source has the location, and nothing else", () => {
  const map = new V8CoverageProvider().createCoverageMap();
  map.merge({ "/a.ts": file({ s: { 0: 1, 1: 0 }, f: { 0: 0 }, b: { 0: [1, 0] } }) });
  const elsewhere = at(9, 0);
  const built = file({ s: { 0: 2, 1: 3, 2: 5 }, f: { 0: 4 }, b: { 0: [0, 6], 1: [7, 7] } });
  built.statementMap[2] = elsewhere;
  built.branchMap[1] = { ...branch, loc: elsewhere };
  mergeCoverage(map, { "/a.ts": built, "/not-in-the-source.ts": built });
  expect(map.files()).toEqual(["/a.ts"]);
  const { s, f, b } = map.fileCoverageFor("/a.ts");
  expect({ s, f, b }).toEqual({ s: { 0: 3, 1: 3 }, f: { 0: 4 }, b: { 0: [1, 6] } });
});

it("distinguishes kinds of branches at the same location", () => {
  const map = new V8CoverageProvider().createCoverageMap();
  map.merge({ "/a.ts": file({ s: {}, f: {}, b: { 0: [0, 0] } }) });
  const built = file({ s: {}, f: {}, b: { 0: [1, 1] } });
  built.branchMap[0] = { ...branch, type: "cond-expr" };
  mergeCoverage(map, { "/a.ts": built });
  expect(map.fileCoverageFor("/a.ts").b).toEqual({ 0: [0, 0] });
});

const branch = { type: "if", line: 3, loc: at(3, 2), locations: [at(3, 2), at(4, 2)] };

function at(line: number, column: number) {
  return { start: { line, column }, end: { line, column: column + 1 } };
}

function file(counts: Pick<FileCoverageData, "s" | "f" | "b">): FileCoverageData {
  const places = [at(1, 0), at(2, 4)];
  return {
    path: "/a.ts",
    statementMap: Object.fromEntries(places.map((place, index) => [index, place])),
    fnMap: { 0: { name: "f", line: 1, decl: at(1, 0), loc: at(1, 0) } },
    branchMap: { 0: branch },
    ...counts,
  };
}
