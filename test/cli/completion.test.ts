import { execFileSync, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { commands } from "../../packages/cli/src/commands.ts";
import { expected } from "../../packages/cli/src/completion/expected.ts";
import { folderWith } from "../support/folder.ts";
import { wideTest } from "../support/width.ts";
import { checkout, endOf, herdctl, inTerminal, ownEnv } from "./herdctl.ts";

const fleet = {
  "herdctl.yaml": `version: 1
fleet: { name: shop }
agents:
  - { name: tester, schedules: { nightly: { type: interval, every: 1d, prompt: Test. } } }
  - { name: writer }
`,
};

const words: [typed: string, offered: string[], kinds?: string[]][] = [
  ["tri", ["trigger"]],
  ["sched", ["schedules"]],
  ["schedules ", ["list", "history", "enable", "disable", "remove", "run"], ["agent"]],
  ["schedules run coder ", [], ["schedule"]],
  ["config ", ["check", "show", "schema"]],
  ["trigger ", [], ["agent"]],
  ["trigger coder --re", ["--resume"]],
  ["trigger coder --resume ", [], ["job"]],
  ["trigger --prompt trigger ", [], ["agent"]],
  ["logs ", [], ["agent", "job"]],
  ["job ", [], ["job"]],
  ["approvals allow ", [], ["approval"]],
  ["jobs --st", ["--status"]],
  ["jobs --status ", [], ["status"]],
  ["start -", ["--detach", "--config", "--json", "--help"]],
  ["start --config ", [], ["file"]],
  ["--v", ["--version"]],
  ["completion ", [], ["bash", "zsh", "fish"]],
  ["nonsense ", []],
];

test.each(words)(
  "`herdctl %s` is gone on with by what the command table allows",
  (typed, offered, kinds = []) => {
    const found = expected(commands, typed.split(" "));
    expect(found.candidates.map(({ word }) => word)).toEqual(expect.arrayContaining(offered));
    if (offered.length === 0) expect(found.candidates).toEqual([]);
    expect(found.kinds).toEqual(kinds);
  },
);

test("every command of the table can be reached by completion alone", () => {
  const unreached = commands.filter(({ name }) => {
    const parts = name.split(" ");
    return parts.some((part, at) => {
      const found = expected(commands, [...parts.slice(0, at), ""]).candidates;
      return !found.some(({ word }) => word === part);
    });
  });
  expect(unreached).toEqual([]);
});

const live: [typed: string[], found: string[]][] = [
  [["trigger", "te"], ["tester"]],
  [
    ["status", ""],
    ["tester", "writer"],
  ],
  [["schedules", "run", "tester", ""], ["nightly"]],
  [["trigger", "tester", "--file", ""], [":files"]],
  [["jobs", "--status", "fa"], ["failed"]],
];

test.each(live)("names are those of the fleet here: %j", async (typed, found) => {
  const run = await herdctl(["__complete", ...typed], { cwd: folderWith(fleet) });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(namesIn(run.stdout)).toEqual(found);
});

test("where there is no fleet, or a wrong one, nothing is said", async () => {
  const nothing = { code: 0, stdout: "", stderr: "" };
  expect(await herdctl(["__complete", "trigger", ""], { cwd: folderWith({}) })).toEqual(nothing);
  const wrong = folderWith({ "herdctl.yaml": "version: [" });
  expect(await herdctl(["__complete", "trigger", ""], { cwd: wrong })).toEqual(nothing);
  expect(await herdctl(["__complete", "job", ""], { cwd: wrong })).toEqual(nothing);
});

test("a fleet that does not answer is not waited for", async () => {
  const cwd = folderWith(fleet);
  mkdirSync(join(cwd, ".herdctl"));
  const silent = createServer(() => undefined);
  await new Promise<void>((done) => silent.listen(join(cwd, ".herdctl/herdctl.sock"), done));
  onTestFinished(() => void silent.close());
  const run = await herdctl(["__complete", "trigger", ""], { cwd });
  expect(run).toEqual({ code: 0, stdout: "", stderr: "" });
});

test("a shell that is not known is told", async () => {
  const run = await herdctl(["completion", "tcsh"], { cwd: folderWith({}) });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(/no completions for `tcsh`[\s\S]*herdctl completion bash/);
});

wideTest(
  "in bash the Tab key completes commands and agents",
  async () => {
    await completesIn("bash --norc --noprofile -i", "source <(herdctl completion bash)");
  },
  120_000,
);

wideTest(
  "in zsh the Tab key completes commands and agents",
  async () => {
    installShells();
    const begin = "autoload -U compinit; compinit -D -u; source <(herdctl completion zsh)";
    await completesIn("zsh -f -i", begin);
  },
  300_000,
);

wideTest(
  "in fish the Tab key completes commands and agents, with what they are for",
  async () => {
    installShells();
    const line =
      "herdctl completion fish | source; complete -C 'herdctl trigger te'; complete -C 'herdctl trig'";
    const { cwd, env } = shellPlace();
    const { stdout } = await endOf(spawn("fish", ["--no-config", "-c", line], { cwd, env }));
    expect(stdout).toMatch(/^tester\t?\ntrigger\tGive an agent something to do\n$/);
  },
  300_000,
);

function installShells(): void {
  execFileSync(process.execPath, [join(checkout, "scripts/shells.mjs")]);
}

function shellPlace() {
  const PATH = [join(checkout, "bin"), process.env.PATH].join(delimiter);
  return { cwd: folderWith(fleet), env: ownEnv({ PATH, TERM: "dumb" }) };
}

async function completesIn(shell: string, begin: string): Promise<void> {
  const prompt = "ready> ";
  const { cwd, env } = shellPlace();
  const { code, screen } = await inTerminal(shell, {
    cwd,
    env: { ...env, PS1: prompt },
    keys: [
      { when: prompt, type: `${begin}\n` },
      { when: prompt, type: "herdctl trig\t" },
      { when: "herdctl trigger ", type: "te\t" },
      { when: "tester ", type: "--help\n" },
      { when: "Usage: herdctl trigger", type: "" },
      { when: prompt, type: "exit\n" },
    ],
  });
  expect([code, screen]).toEqual([0, expect.stringContaining("Usage: herdctl trigger")]);
}

function namesIn(text: string): string[] {
  return text
    .split("\n")
    .flatMap((line) => line.split("\t").slice(0, 1))
    .filter((name) => name !== "");
}
