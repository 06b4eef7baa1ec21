import { describe, expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { executeOnRuntime, type RuntimeUnderTest } from "../support/runtimes-under-test.ts";
import { isWide } from "../support/test-subset.ts";
import { observe } from "./observed-run.ts";
import { type OptionCase, type OptionGroup, optionGroups } from "./option-cases.ts";

/** Each group of options in one run; in the wide round also each option in a run of its own. */
export function describeOptionConformance(
  runtime: RuntimeUnderTest,
  groups: readonly OptionGroup[] = optionGroups,
): void {
  describe.each(groups)("options of the group `$name`", (group) => {
    test("take effect together", async () => {
      const run = await runWith(runtime, group, group.cases);
      // All failures of a run are reported together.
      for (const { key, check } of group.cases)
        expect
          .soft(
            failureOf(() => check(run)),
            key,
          )
          .toBe("");
    });

    if (!isWide) return;
    test.each(group.cases)("$key takes effect alone", async (one) => {
      one.check(await runWith(runtime, group, [one, ...(one.needs ?? [])]));
    });
  });
}

function failureOf(check: () => void): string {
  try {
    check();
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function runWith(
  runtime: RuntimeUnderTest,
  { script, prepare }: OptionGroup,
  cases: readonly OptionCase[],
) {
  const harness = await startHarness({ script });
  prepare?.(harness);
  const agent = cases.map(({ yaml }) => yaml(harness)).join("\n");
  const options = { onPermission: undefined };
  return observe(await executeOnRuntime(runtime, harness, { agent, options }));
}
