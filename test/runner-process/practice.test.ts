import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { practiseRun } from "../../packages/core/src/runner-process/warm-up.ts";
import { folderWith } from "../support/folder.ts";

test.each(["cli", "sdk"] as const)(
  "what a spare practises with the %s runtime is a run that ends well and leaves nothing",
  async (runtime) => {
    const folder = join(folderWith({}), "practice");
    const report = await practiseRun(folder, runtime);
    expect(report).toMatchObject({ outcome: { code: "success" }, summary: "Done.", turns: 1 });
    expect(report?.warnings).toEqual([]);
    expect(existsSync(folder)).toBe(false);
  },
);
