import { execFileSync, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { commands } from "../../packages/cli/src/commands.ts";
import { analyzeCommandLine } from "../../packages/cli/src/completion/analyze-command-line.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { wideTest } from "../support/test-subset.ts";
import { checkout, minimalEnv, runHerdctl, runInTerminal, waitForExit } from "./run-herdctl.ts";

const fleet = {
  "herdctl.yaml": `version: 1
fleet: { name: shop }
agents:
  - { name: tester, schedules: { nightly: { type: interval, every: 1d, prompt: Test. } } }
  - { name: writer }
`,
};

const completionCases: [typed: string, offered: string[], kinds?: string[]][] = [
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

test.each(completionCases)(
  "completes `herdctl %s` from the command table",
  (typed, offered, kinds = []) => {
    const found = analyzeCommandLine(commands, typed.split(" "));
    expect(found.candidates.map(({ value }) => value)).toEqual(expect.arrayContaining(offered));
    if (offered.length === 0) expect(found.candidates).toEqual([]);
    expect(found.kinds).toEqual(kinds);
  },
);

test("reaches every command of the table by completion alone", () => {
  const unreached = commands.filter(({ name }) => {
    const parts = name.split(" ");
    return parts.some((part, at) => {
      const found = analyzeCommandLine(commands, [...parts.slice(0, at), ""]).candidates;
      return !found.some(({ value }) => value === part);
    });
  });
  expect(unreached).toEqual([]);
});

const liveCompletionCases: [typed: string[], found: string[]][] = [
  [["trigger", "te"], ["tester"]],
  [
    ["status", ""],
    ["tester", "writer"],
  ],
  [["schedules", "run", "tester", ""], ["nightly"]],
  [["trigger", "tester", "--file", ""], [":files"]],
  [["jobs", "--status", "fa"], ["failed"]],
];

test.each(liveCompletionCases)(
  "completes the names of the fleet in the current folder: %j",
  async (typed, found) => {
    const run = await runHerdctl(["__complete", ...typed], { cwd: tempFolderWith(fleet) });
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(namesIn(run.stdout)).toEqual(found);
  },
);

test("completes nothing without a valid fleet", async () => {
  const nothing = { code: 0, stdout: "", stderr: "" };
  expect(await runHerdctl(["__complete", "trigger", ""], { cwd: tempFolderWith({}) })).toEqual(
    nothing,
  );
  const wrong = tempFolderWith({ "herdctl.yaml": "version: [" });
  expect(await runHerdctl(["__complete", "trigger", ""], { cwd: wrong })).toEqual(nothing);
  expect(await runHerdctl(["__complete", "job", ""], { cwd: wrong })).toEqual(nothing);
});

test("does not wait for an unresponsive fleet", async () => {
  const cwd = tempFolderWith(fleet);
  mkdirSync(join(cwd, ".herdctl"));
  const silent = createServer(() => undefined);
  await new Promise<void>((done) => silent.listen(join(cwd, ".herdctl/herdctl.sock"), done));
  onTestFinished(() => void silent.close());
  const run = await runHerdctl(["__complete", "trigger", ""], { cwd });
  expect(run).toEqual({ code: 0, stdout: "", stderr: "" });
});

test("explains an unknown shell", async () => {
  const run = await runHerdctl(["completion", "tcsh"], { cwd: tempFolderWith({}) });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(/no completions for `tcsh`[\s\S]*herdctl completion bash/);
});

wideTest(
  "completes commands and agents with Tab in bash",
  async () => {
    await expectCompletionIn("bash --norc --noprofile -i", "source <(herdctl completion bash)");
  },
  120_000,
);

wideTest(
  "completes commands and agents with Tab in zsh",
  async () => {
    installShells();
    const begin = "autoload -U compinit; compinit -D -u; source <(herdctl completion zsh)";
    await expectCompletionIn("zsh -f -i", begin);
  },
  300_000,
);

wideTest(
  "completes commands and agents with descriptions with Tab in fish",
  async () => {
    installShells();
    const line =
      "herdctl completion fish | source; complete -C 'herdctl trigger te'; complete -C 'herdctl trig'";
    const { cwd, env } = shellHarness();
    const { stdout } = await waitForExit(spawn("fish", ["--no-config", "-c", line], { cwd, env }));
    expect(stdout).toMatch(/^tester\t?\ntrigger\tStart a job for an agent\n$/);
  },
  300_000,
);

function installShells(): void {
  execFileSync(process.execPath, [join(checkout, "scripts/install-shells.mjs")]);
}

function shellHarness() {
  const PATH = [join(checkout, "bin"), process.env.PATH].join(delimiter);
  return { cwd: tempFolderWith(fleet), env: minimalEnv({ PATH, TERM: "dumb" }) };
}

async function expectCompletionIn(shell: string, begin: string): Promise<void> {
  const prompt = "ready> ";
  const { cwd, env } = shellHarness();
  const { code, screen } = await runInTerminal(shell, {
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
