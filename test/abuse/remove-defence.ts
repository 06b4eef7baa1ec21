import type { Defence } from "./defence.ts";
import type { TestEnd, Twin } from "./twin.ts";

/** Errors by which a test fails that has noticed nothing: the edit itself is broken. */
const broken = /^(ReferenceError|SyntaxError|TypeError(?!: \.to))\b/;

/** What a busy machine can do to any test. */
const late = /^Error: (Test|Hook) timed out/;

/**
 * Takes the defence away and returns how its test goes red. Right afterwards, with the defence back
 * in its place, the same test must pass: otherwise the red was the machine's, or the copy's.
 */
export async function withoutDefence(twin: Twin, { red, edit }: Defence): Promise<string> {
  const how = reasonIn(await twin.without(edit, () => twin.run([red])), red.file);
  const again = await twin.run([red]);
  const failed = again.filter(({ status }) => status === "failed");
  if (failed.length > 0) throw new Error(`red with the defence in place, too:\n${told(failed)}`);
  if (again.length === 0) throw new Error(`there is no such test: ${JSON.stringify(red)}`);
  return how;
}

function reasonIn(ends: TestEnd[], file: string): string {
  const failed = ends.filter(({ status }) => status === "failed");
  if (failed.length === 0) throw new Error(`nobody notices that it is gone: ${file}`);
  const odd = failed.filter(({ reason }) => broken.test(reason));
  if (odd.length > 0) throw new Error(`the edit breaks the program:\n${told(odd)}`);
  const [telling] = failed.filter(({ reason }) => !late.test(reason));
  if (telling === undefined) throw new Error(`it only took too long:\n${told(failed)}`);
  return telling.reason.split("\n")[0] ?? "";
}

function told(ends: TestEnd[]): string {
  return ends.map(({ name, reason }) => `${name}\n${reason}`).join("\n");
}
