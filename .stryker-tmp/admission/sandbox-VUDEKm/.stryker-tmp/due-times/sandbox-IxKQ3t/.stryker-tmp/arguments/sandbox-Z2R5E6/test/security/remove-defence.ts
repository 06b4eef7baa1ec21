import type { CheckoutCopy, TestOutcome } from "./checkout-copy.ts";
import type { Defence } from "./defence.ts";

/** Errors of a test that noticed nothing: the edit itself is broken. */
const brokenEditError = /^(ReferenceError|SyntaxError|TypeError(?!: \.to))\b/;

/** Errors on a busy machine; vitest's JSON contains the second form. */
const timeoutError = /^Error: ((Test|Hook) timed out|STACK_TRACE_ERROR)/;

/** Removes the defence and returns the first line of the test's failure. */
export async function failureWithoutDefence(
  copy: CheckoutCopy,
  { failingTest, ...edit }: Defence,
): Promise<string> {
  return failureReason(await copy.withEdit(edit, () => copy.runTests([failingTest])), failingTest);
}

/**
 * Checks that the same tests pass with all defences restored; otherwise the machine or the copy
 * caused the failure.
 */
export async function expectPassWithDefences(
  copy: CheckoutCopy,
  defences: readonly Defence[],
): Promise<void> {
  const tests = defences.map(({ failingTest }) => failingTest);
  const outcomes = await copy.runTests(tests);
  const missing = tests.filter(({ test }) => !outcomes.some(({ name }) => name.includes(test)));
  const failed = outcomes.filter(({ status }) => status === "failed");
  if (missing.length > 0) throw new Error(`there is no such test: ${JSON.stringify(missing)}`);
  if (failed.length > 0)
    throw new Error(`fails with every defence in place:\n${formatFailures(failed)}`);
}

function failureReason(outcomes: TestOutcome[], failingTest: Defence["failingTest"]): string {
  if (outcomes.length === 0)
    throw new Error(`there is no such test: ${JSON.stringify(failingTest)}`);
  const failed = outcomes.filter(({ status }) => status === "failed");
  if (failed.length === 0) throw new Error(`no test fails without it: ${failingTest.file}`);
  const brokenEdits = failed.filter(({ reason }) => brokenEditError.test(reason));
  if (brokenEdits.length > 0)
    throw new Error(`the edit breaks the program:\n${formatFailures(brokenEdits)}`);
  const [meaningful] = failed.filter(({ reason }) => !timeoutError.test(reason));
  if (meaningful === undefined)
    throw new Error(`the test only timed out:\n${formatFailures(failed)}`);
  return meaningful.reason.split("\n")[0] ?? "";
}

function formatFailures(outcomes: TestOutcome[]): string {
  return outcomes.map(({ name, reason }) => `${name}\n${reason}`).join("\n");
}
