import type { Defence } from "./defence.ts";
import type { TestEnd, Twin } from "./twin.ts";

/** Errors by which a test fails that has noticed nothing: the edit itself is broken. */
const broken = /^(ReferenceError|SyntaxError|TypeError(?!: \.to))\b/;

/** The tests go through with all defences, or there would be nothing to be seen without one. */
export async function withDefences(twin: Twin, defences: readonly Defence[]): Promise<void> {
  const tests = defences.map(({ red }) => red);
  const ends = await twin.run(tests);
  const missing = tests.filter(({ test }) => !ends.some(({ name }) => name.includes(test)));
  const failed = ends.filter(({ status }) => status === "failed");
  if (missing.length > 0) throw new Error(`there is no such test: ${JSON.stringify(missing)}`);
  if (failed.length > 0) throw new Error(`red with every defence in place:\n${told(failed)}`);
}

/** Takes the defence away and returns how its test goes red. */
export async function withoutDefence(twin: Twin, { red, edit }: Defence): Promise<string> {
  const ends = await twin.without(edit, () => twin.run([red]));
  const failed = ends.filter(({ status }) => status === "failed");
  if (failed.length === 0) throw new Error(`nobody notices that it is gone: ${red.file}`);
  const odd = failed.filter(({ reason }) => broken.test(reason));
  if (odd.length > 0) throw new Error(`the edit breaks the program:\n${told(odd)}`);
  return failed[0]?.reason.split("\n")[0] ?? "";
}

function told(ends: TestEnd[]): string {
  return ends.map(({ name, reason }) => `${name}\n${reason}`).join("\n");
}
