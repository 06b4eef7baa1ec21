import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../packages/cli/src/commands.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { checkout, runHerdctl } from "./run-herdctl.ts";

test("lists every command in --help and exits with 0", async () => {
  const run = await runHerdctl(["--help"], { cwd: tempFolderWith({}) });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  for (const command of ["init", "config", "rehearse"]) expect(run.stdout).toContain(command);
});

test("lists the options of a command in its --help", async () => {
  const run = await runHerdctl(["config", "show", "--help"], { cwd: tempFolderWith({}) });
  expect(run.code).toBe(0);
  expect(run.stdout).toMatch(/--config <file>/);
  expect(run.stdout).toMatch(/--json/);
});

test("prints the package version with --version", async () => {
  const manifest = JSON.parse(readFileSync(join(checkout, "packages/cli/package.json"), "utf8"));
  const run = await runHerdctl(["--version"], { cwd: tempFolderWith({}) });
  expect(run).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: "" });
});

const usageErrors: [typed: string, message: RegExp][] = [
  ["strat", /^✗ unknown command 'strat'\n {2}Did you mean start\? Run `herdctl --help`/],
  ["inti", /Did you mean init\?/],
  ["config chekc", /unknown command 'chekc'/],
  ["config check --frob", /unknown option '--frob'/],
  ["config check one two", /too many arguments/],
  ["init --config x", /unknown option '--config'/],
  ["init --example", /'--example <name>' argument missing/],
];

test.each(usageErrors)("exits with 2 and a hint for `herdctl %s`", async (typed, message) => {
  const run = await runHerdctl(typed.split(" "), { cwd: tempFolderWith({}) });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(message);
  expect(run.stderr).toMatch(/--help/);
  expect(run.stderr).not.toMatch(/^\s+at /m);
});

test("prints the help without arguments", async () => {
  const run = await runHerdctl([], { cwd: tempFolderWith({}) });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(/Usage: herdctl/);
});

const examples = commands.flatMap((command) =>
  (command.examples ?? []).map((line) => ({ command, line, typed: line.split("  #")[0] ?? "" })),
);

test.each(examples)(
  "documents the example `$typed` at the command it runs",
  ({ command, typed }) => {
    expect(typed).toContain(`herdctl ${command.name}`);
    const known = (command.options ?? []).flatMap(({ flags }) => flags.match(/--?[a-z-]+/g) ?? []);
    const flags = typed.replaceAll(/"[^"]*"/g, "").match(/(?<= )--?[a-z][a-z-]*/g) ?? [];
    expect(flags.filter((flag) => ![...known, "--json"].includes(flag))).toEqual([]);
  },
);

test("prints the examples of a command in its --help", async () => {
  const run = await runHerdctl(["trigger", "--help"], { cwd: tempFolderWith({}) });
  expect(run.stdout).toContain('herdctl trigger coder "Fix the failing test." --wait');
});
