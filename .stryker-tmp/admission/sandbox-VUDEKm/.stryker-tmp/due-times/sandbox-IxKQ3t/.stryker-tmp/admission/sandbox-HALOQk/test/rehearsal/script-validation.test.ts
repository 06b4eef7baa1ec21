import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Problem, ProblemsError, UserError } from "@herdctl/protocol";
import { loadScript, startRehearsal } from "@herdctl/rehearsal";
import { expect, onTestFinished, test } from "vitest";

function written(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-script-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

async function problemsOf(yaml: string): Promise<Problem[]> {
  const failure = await loadScript(written("script.yaml", yaml)).catch((error: unknown) => error);
  if (failure instanceof ProblemsError) return failure.problems;
  throw failure;
}

test("reports every mistake of a script with its position and a hint", async () => {
  const problems = await problemsOf(`mod: obedient
rules:
  - match: { promt: hello }
    reply: Hi
  - match: { prompt: "/(/" }
    reply: { text: Hi, delay: { first: soon } }
  - name: nothing
  - reply: a
    replies: [b]
  - fault: { status: 529, never: true }
  - fault: { times: 2 }
  - fault: [{ status: 500 }, { never: true }]
  - fault: { status: 200 }
`);
  const shown = problems.map(({ line, column, message, hint }) => {
    return `${line}:${column} ${message} – ${hint}`;
  });
  expect(shown).toEqual([
    "1:1 unknown key `mod` – Did you mean `mode`?",
    "3:14 unknown key `promt` – Did you mean `prompt`?",
    expect.stringMatching(/^5:22 Invalid regular expression.* – Correct the expression/),
    '6:40 "soon" is not a duration – Use a duration such as `200ms`, `1.5s` or `2m`.',
    "7:5 this rule has no reply and no fault – Add `reply:`, `replies:` or `fault:`.",
    "8:5 this rule has both `reply` and `replies` – Remove one of them. `replies` is a list of replies.",
    expect.stringMatching(
      /^10:12 a fault cannot have several kinds: status, never – Set exactly one/,
    ),
    expect.stringMatching(/^11:12 this fault has no kind – Set exactly one/),
    expect.stringMatching(/^12:13 this fault has no limit, .* – Add `times:`/),
    expect.stringMatching(/^13:22 200 is too small/),
  ]);
});

test("checks a script given as an object the same way", async () => {
  const script = { rules: [{ match: { turn: 0 }, reply: "x" }] };
  await expect(startRehearsal({ script })).rejects.toThrow(
    /rules\[0\]\.match\.turn: 0 is too small/,
  );
});

test("reads the export named script of a module", async () => {
  const good = written("script.mjs", 'export const script = { rules: [{ reply: "Hi" }] };');
  expect(await loadScript(good)).toMatchObject({ rules: [{ reply: "Hi" }] });
  const unnamed = written("script.mjs", "export const other = 1;");
  await expect(loadScript(unnamed)).rejects.toThrow(/no export named `script`/);
  const broken = written("script.mjs", "throw new Error('oh');");
  await expect(loadScript(broken)).rejects.toThrow(UserError);
});

test("reports a missing file as a user error", async () => {
  await expect(startRehearsal({ script: "nowhere.yaml" })).rejects.toMatchObject({
    code: "file_unreadable",
  });
});

test("accepts the examples", async () => {
  for (const name of ["first-steps.yaml", "bad-weather.yaml"]) {
    const file = join(import.meta.dirname, "../../examples/rehearsal", name);
    expect((await loadScript(file)).rules.length).toBeGreaterThan(0);
  }
});
