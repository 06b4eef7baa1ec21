import type { Defence } from "./defence.ts";
import type { TestEnd, Twin } from "./twin.ts";

/** Errors by which a test fails that has noticed nothing: the edit itself is broken. */
const broken = /^(ReferenceError|SyntaxError|TypeError(?!: \.to))\b/;

/** What a busy machine can do to any test; vitest's JSON has it under the second name. */
const late = /^Error: ((Test|Hook) timed out|STACK_TRACE_ERROR)/;

/** Takes the defence away and returns how its test goes red. */
export async function withoutDefence(twin: Twin, { red, edit }: Defence): Promise<string> {
  return reasonIn(await twin.without(edit, () => twin.run([red])), red);
}

/** With all of them back in their place the same tests pass, or the red was the machine's, or the copy's. */
export async function withDefences(twin: Twin, defences: readonly Defence[]): Promise<void> {
  const tests = defences.map(({ red }) => red);
  const ends = await twin.run(tests);
  const missing = tests.filter(({ test }) => !ends.some(({ name }) => name.includes(test)));
  const failed = ends.filter(({ status }) => status === "failed");
  if (missing.length > 0) throw new Error(`there is no such test: ${JSON.stringify(missing)}`);
  if (failed.length > 0) throw new Error(`red with every defence in place, too:\n${told(failed)}`);
}

function reasonIn(ends: TestEnd[], red: Defence["red"]): string {
  if (ends.length === 0) throw new Error(`there is no such test: ${JSON.stringify(red)}`);
  const failed = ends.filter(({ status }) => status === "failed");
  if (failed.length === 0) throw new Error(`nobody notices that it is gone: ${red.file}`);
  const odd = failed.filter(({ reason }) => broken.test(reason));
  if (odd.length > 0) throw new Error(`the edit breaks the program:\n${told(odd)}`);
  const [telling] = failed.filter(({ reason }) => !late.test(reason));
  if (telling === undefined) throw new Error(`it only took too long:\n${told(failed)}`);
  return telling.reason.split("\n")[0] ?? "";
}

function told(ends: TestEnd[]): string {
  return ends.map(({ name, reason }) => `${name}\n${reason}`).join("\n");
}
