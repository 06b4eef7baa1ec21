import { expect, test } from "vitest";
import { judged, type Row } from "../../bench/judge.mjs";

const row = (bound: Row["bound"], ours: number[], bare: number[]) =>
  judged({ what: "ours", beside: "bare", ours, bare, bound });

const most = Array.from({ length: 100 }, (_, index) => index + 1);

test.each([
  ["ratio", { ratio: 1.1 }, [109], [100], true, 1.09],
  ["ratio", { ratio: 1.1 }, [111], [100], false, 1.11],
  ["median", { median: 15 }, [14, 14, 90], [1], true, 14],
  ["median", { median: 15 }, [14, 16, 16], [1], false, 16],
  ["p95", { p95: 95 }, most, [1], false, 95],
  ["p95", { p95: 96 }, most, [1], true, 95],
  ["p99", { p99: 99 }, most, [1], false, 99],
  ["more", { more: 60 }, [159], [100], true, 59],
  ["more", { more: 60 }, [161], [100], false, 61],
  ["least", { least: 200 }, [201], [1_000], true, 201],
  ["least", { least: 200 }, [199], [1_000], false, 199],
])("a bound on %s (%j) is judged", (_kind, bound, ours, bare, held, found) => {
  expect(row(bound, ours, bare)).toMatchObject({ held, found });
});

test("without a bound, or something bare, nothing is claimed", () => {
  expect(row(undefined, [3], [2])).toEqual(
    expect.not.objectContaining({ held: expect.anything() }),
  );
  expect(row(undefined, [3], [])).not.toHaveProperty("ratio");
  expect(row(undefined, [0], [0])).not.toHaveProperty("ratio");
});
