import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { folderWith, writeFiles } from "../support/folder.ts";
import { checkout, herdctl, herdctlInTerminal } from "./herdctl.ts";

test("in an empty folder, `init --yes` writes a fleet that checks", async () => {
  const cwd = folderWith({});
  const made = await herdctl(["init", "--yes", "--name", "mine"], { cwd });
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const checked = await herdctl(["config", "check"], { cwd });
  expect(checked).toMatchObject({ code: 0, stderr: "" });
  expect(checked.stdout).toContain("mine: 1 agent, 1 schedule, no problems");
});

test("the state folder and .env are kept out of git, beside what was ignored before", async () => {
  const cwd = folderWith({ ".gitignore": "dist" });
  await herdctl(["init", "--yes"], { cwd });
  expect(readFileSync(join(cwd, ".gitignore"), "utf8")).toBe("dist\n.herdctl/\n.env\n");
  expect(statSync(join(cwd, ".herdctl/schema/fleet.json")).mode & 0o777).toBe(0o600);
});

test("a second init refuses and changes nothing", async () => {
  const cwd = folderWith({});
  await herdctl(["init", "--yes"], { cwd });
  writeFiles(cwd, { "herdctl.yaml": "mine", "agents/hello.yaml": "mine too" });
  const again = await herdctl(["init", "--yes", "--example", "mixed"], { cwd });
  expect(again).toMatchObject({ code: 4, stdout: "" });
  expect(again.stderr).toContain("there is a herdctl.yaml in this folder already");
  expect(readFileSync(join(cwd, "herdctl.yaml"), "utf8")).toBe("mine");
  expect(readdirSync(join(cwd, "agents"))).toEqual(["hello.yaml"]);
});

test("an agent file that is there already is not overwritten either", async () => {
  const cwd = folderWith({ "agents/hello.yaml": "mine" });
  const run = await herdctl(["init", "--yes"], { cwd });
  expect(run.code).toBe(4);
  expect(readdirSync(cwd)).toEqual(["agents"]);
  expect(readFileSync(join(cwd, "agents/hello.yaml"), "utf8")).toBe("mine");
});

test("a README that is there stays; one that is not comes with the example", async () => {
  const cwd = folderWith({ "README.md": "mine" });
  expect(await herdctl(["init", "--yes"], { cwd })).toMatchObject({ code: 0 });
  expect(readFileSync(join(cwd, "README.md"), "utf8")).toBe("mine");
  const empty = folderWith({});
  await herdctl(["init", "--yes"], { cwd: empty });
  expect(readFileSync(join(empty, "README.md"), "utf8")).toContain("# Hello");
});

/** What an example asks of its environment before it can be checked. */
const needed: Record<string, Record<string, string>> = {
  "many-machines": { HERDCTL_STORE: "postgres://db.example.org/herd" },
};
const examples = readdirSync(join(checkout, "examples")).filter((name) => name !== "rehearsal");

test.each(examples)("the example %s checks as it is written, under another name", async (name) => {
  const cwd = folderWith({});
  const args = ["init", "--yes", "--json", "--example", name, "--name", "renamed"];
  const made = await herdctl(args, { cwd });
  expect(made.code).toBe(0);
  const { files } = JSON.parse(made.stdout);
  expect(files).toContain("herdctl.yaml");
  expect(files.filter((file: string) => !existsSync(join(cwd, file)))).toEqual([]);

  const checked = await herdctl(["config", "check", "--json"], { cwd, env: needed[name] });
  expect(checked.code).toBe(0);
  expect(JSON.parse(checked.stdout)).toMatchObject({ fleet: "renamed", errors: [] });
});

test("the editor lines point at the schemas that `config schema` prints", async () => {
  const cwd = folderWith({});
  await herdctl(["init", "--yes"], { cwd });
  const pairs: [file: string, args: string[]][] = [
    ["herdctl.yaml", ["config", "schema"]],
    ["agents/hello.yaml", ["config", "schema", "--agent"]],
  ];
  for (const [file, args] of pairs) {
    const path = join(cwd, file);
    const line = /^# yaml-language-server: \$schema=(.+)$/m.exec(readFileSync(path, "utf8"));
    const schema = resolve(dirname(path), line?.[1] ?? "no editor line");
    const printed = await herdctl(args, { cwd });
    expect(readFileSync(schema, "utf8")).toBe(printed.stdout);
    expect(JSON.parse(printed.stdout).$schema).toMatch(/^https:\/\/json-schema\.org\//);
  }
});

test.each([
  [["--example", "nope"], /no example `nope`[\s\S]*Examples: .*hello/],
  [["--name", "../up"], /"\.\.\/up" is not a valid name[\s\S]*letters, digits/],
])("%j is refused before anything is written", async (args, told) => {
  const cwd = folderWith({});
  const run = await herdctl(["init", "--yes", ...args], { cwd });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(told);
  expect(readdirSync(cwd)).toEqual([]);
});

test("in a terminal it asks for the name and the example", async () => {
  const cwd = folderWith({});
  const { code, screen } = await herdctlInTerminal(["init"], {
    cwd,
    keys: [
      { when: "What is the fleet called?", type: "two words\r" },
      { when: "Use letters, digits", type: `${"\x7f".repeat(9)}night-shift\r` },
      { when: "What should it begin with?", type: "\x1b[B\r" },
    ],
  });
  expect(code).toBe(0);
  expect(screen).toContain("night-shift");
  const fleet = readFileSync(join(cwd, "herdctl.yaml"), "utf8");
  expect(fleet).toContain("name: night-shift");
  expect(readdirSync(join(cwd, "agents"))).toEqual(["clerk.yaml"]);
});

test.each(["What is the fleet called?", "What should it begin with?"])(
  "who backs out at “%s” finds nothing written",
  async (question) => {
    const cwd = folderWith({});
    const first = { when: "What is the fleet called?", type: "\r" };
    const leave = { when: question, type: "\x03" };
    const keys = question === first.when ? [leave] : [first, leave];
    const { code, screen } = await herdctlInTerminal(["init"], { cwd, keys });
    expect(code).toBe(4);
    expect(screen).toContain("Nothing was written.");
    expect(readdirSync(cwd)).toEqual([]);
  },
);

test("what an example is for fits beside its name in a terminal of 80 columns", () => {
  const heads = examples.map((name) => {
    const text = readFileSync(join(checkout, "examples", name, "herdctl.yaml"), "utf8");
    const [, purpose = ""] = /^# (?!yaml-language-server)(?:[\w-]+: )?(.+)$/m.exec(text) ?? [];
    return purpose;
  });
  const [frame, gap] = ["│  ● ", "  "];
  const names = Math.max(...examples.map((name) => name.length));
  const room = 80 - frame.length - names - gap.length;
  expect(heads.filter((head) => head === "" || head.length > room)).toEqual([]);
});
