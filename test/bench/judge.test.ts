import { expect, test } from "vitest";
import { judge, type Row } from "../../bench/judge.mjs";

const judged = (bound: Row["bound"], values: number[], baseline: number[]) =>
  judge({ name: "a job", values, baseline: { name: "claude -p", values: baseline }, bound });

const oneToHundred = Array.from({ length: 100 }, (_, index) => index + 1);

test.each([
  ["ratio", { ratio: 1.1 }, [109], [100], true, 1.09],
  ["ratio", { ratio: 1.1 }, [111], [100], false, 1.11],
  ["median", { median: 15 }, [14, 14, 90], [1], true, 14],
  ["median", { median: 15 }, [14, 16, 16], [1], false, 16],
  ["p95", { p95: 95 }, oneToHundred, [1], false, 95],
  ["p95", { p95: 96 }, oneToHundred, [1], true, 95],
  ["added", { added: 60 }, [159], [100], true, 59],
  ["added", { added: 60 }, [161], [100], false, 61],
  ["min", { min: 200 }, [201], [1_000], true, 201],
  ["min", { min: 200 }, [199], [1_000], false, 199],
])("judges a bound of kind %s (%j)", (_kind, bound, values, baseline, held, measured) => {
  expect(judged(bound, values, baseline)).toMatchObject({ held, measured });
});

test("omits the ratio to a baseline of zero", () => {
  expect(judged({ median: 1 }, [0], [0])).not.toHaveProperty("ratio");
  expect(judged({ median: 1 }, [0.5], [0])).not.toHaveProperty("ratio");
});
