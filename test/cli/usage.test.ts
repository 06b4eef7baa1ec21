import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../packages/cli/src/commands.ts";
import { folderWith } from "../support/folder.ts";
import { checkout, herdctl } from "./herdctl.ts";

test("--help names every command and ends well", async () => {
  const run = await herdctl(["--help"], { cwd: folderWith({}) });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  for (const command of ["init", "config", "rehearse"]) expect(run.stdout).toContain(command);
});

test("--help of a command names its options", async () => {
  const run = await herdctl(["config", "show", "--help"], { cwd: folderWith({}) });
  expect(run.code).toBe(0);
  expect(run.stdout).toMatch(/--config <file>/);
  expect(run.stdout).toMatch(/--json/);
});

test("--version is the version of the package", async () => {
  const manifest = JSON.parse(readFileSync(join(checkout, "packages/cli/package.json"), "utf8"));
  const run = await herdctl(["--version"], { cwd: folderWith({}) });
  expect(run).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: "" });
});

const mistakes: [typed: string, told: RegExp][] = [
  ["strat", /unknown command 'strat'/],
  ["inti", /Did you mean init\?/],
  ["config chekc", /unknown command 'chekc'/],
  ["config check --frob", /unknown option '--frob'/],
  ["config check one two", /too many arguments/],
  ["init --config x", /unknown option '--config'/],
  ["init --example", /'--example <name>' argument missing/],
];

test.each(mistakes)("`herdctl %s` ends with 2 and says what to do", async (typed, told) => {
  const run = await herdctl(typed.split(" "), { cwd: folderWith({}) });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(told);
  expect(run.stderr).toMatch(/--help/);
  expect(run.stderr).not.toMatch(/^\s+at /m);
});

test("nothing typed shows the help", async () => {
  const run = await herdctl([], { cwd: folderWith({}) });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(/Usage: herdctl/);
});

const examples = commands.flatMap((command) =>
  (command.examples ?? []).map((line) => ({ command, line, typed: line.split("  #")[0] ?? "" })),
);

test.each(examples)("the example `$typed` is one of its command", ({ command, typed }) => {
  expect(typed).toContain(`herdctl ${command.name}`);
  const known = (command.options ?? []).flatMap(({ flags }) => flags.match(/--?[a-z-]+/g) ?? []);
  const flags = typed.replaceAll(/"[^"]*"/g, "").match(/(?<= )--?[a-z][a-z-]*/g) ?? [];
  expect(flags.filter((flag) => ![...known, "--json"].includes(flag))).toEqual([]);
});

test("--help of a command shows its examples", async () => {
  const run = await herdctl(["trigger", "--help"], { cwd: folderWith({}) });
  expect(run.stdout).toContain('herdctl trigger coder -p "Fix the failing test." --wait');
});
