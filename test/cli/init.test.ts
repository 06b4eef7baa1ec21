import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { tempFolderWith, writeFiles } from "../support/temp-folder.ts";
import { checkout, runHerdctl, runHerdctlInTerminal } from "./run-herdctl.ts";

test("writes a valid fleet with `init --yes` in an empty folder", async () => {
  const cwd = tempFolderWith({});
  const made = await runHerdctl(["init", "--yes", "--name", "mine"], { cwd });
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const env = { ANTHROPIC_API_KEY: "key" };
  const checked = await runHerdctl(["config", "check"], { cwd, env });
  expect(checked).toMatchObject({ code: 0, stderr: "" });
  expect(checked.stdout).toContain("mine: 1 agent, 1 schedule, no problems");
});

test("adds the state folder and .env to an existing .gitignore", async () => {
  const cwd = tempFolderWith({ ".gitignore": "dist" });
  await runHerdctl(["init", "--yes"], { cwd });
  expect(readFileSync(join(cwd, ".gitignore"), "utf8")).toBe("dist\n.herdctl/\n.env\n");
  expect(statSync(join(cwd, ".herdctl/schema/fleet.json")).mode & 0o777).toBe(0o600);
});

test("refuses a second init and changes nothing", async () => {
  const cwd = tempFolderWith({});
  await runHerdctl(["init", "--yes"], { cwd });
  writeFiles(cwd, { "herdctl.yaml": "mine", "agents/hello.yaml": "mine too" });
  const again = await runHerdctl(["init", "--yes", "--example", "mixed"], { cwd });
  expect(again).toMatchObject({ code: 4, stdout: "" });
  expect(again.stderr).toContain("herdctl.yaml already exists in this folder");
  expect(readFileSync(join(cwd, "herdctl.yaml"), "utf8")).toBe("mine");
  expect(readdirSync(join(cwd, "agents"))).toEqual(["hello.yaml"]);
});

test("does not overwrite an existing agent file", async () => {
  const cwd = tempFolderWith({ "agents/hello.yaml": "mine" });
  const run = await runHerdctl(["init", "--yes"], { cwd });
  expect(run.code).toBe(4);
  expect(readdirSync(cwd)).toEqual(["agents"]);
  expect(readFileSync(join(cwd, "agents/hello.yaml"), "utf8")).toBe("mine");
});

test("keeps an existing README and otherwise copies the one of the example", async () => {
  const cwd = tempFolderWith({ "README.md": "mine" });
  expect(await runHerdctl(["init", "--yes"], { cwd })).toMatchObject({ code: 0 });
  expect(readFileSync(join(cwd, "README.md"), "utf8")).toBe("mine");
  const empty = tempFolderWith({});
  await runHerdctl(["init", "--yes"], { cwd: empty });
  expect(readFileSync(join(empty, "README.md"), "utf8")).toContain("# Hello");
});

/** Environment variables that an example needs before it can be checked. */
const requiredEnv: Record<string, Record<string, string>> = {
  "many-machines": { HERDCTL_STORE: "postgres://db.example.org/herd" },
};
const examples = readdirSync(join(checkout, "examples")).filter((name) => name !== "rehearsal");

test.each(examples)(
  "writes the example %s under another name so that it passes config check",
  async (name) => {
    const cwd = tempFolderWith({});
    const args = ["init", "--yes", "--json", "--example", name, "--name", "renamed"];
    const made = await runHerdctl(args, { cwd });
    expect(made.code).toBe(0);
    const { files } = JSON.parse(made.stdout);
    expect(files).toContain("herdctl.yaml");
    expect(files.filter((file: string) => !existsSync(join(cwd, file)))).toEqual([]);

    const checked = await runHerdctl(["config", "check", "--json"], {
      cwd,
      env: requiredEnv[name],
    });
    expect(checked.code).toBe(0);
    expect(JSON.parse(checked.stdout)).toMatchObject({ fleet: "renamed", errors: [] });
  },
);

test("points the editor comments at the schemas that `config schema` prints", async () => {
  const cwd = tempFolderWith({});
  await runHerdctl(["init", "--yes"], { cwd });
  const pairs: [file: string, args: string[]][] = [
    ["herdctl.yaml", ["config", "schema"]],
    ["agents/hello.yaml", ["config", "schema", "--agent"]],
  ];
  for (const [file, args] of pairs) {
    const path = join(cwd, file);
    const line = /^# yaml-language-server: \$schema=(.+)$/m.exec(readFileSync(path, "utf8"));
    const schema = resolve(dirname(path), line?.[1] ?? "no editor line");
    const printed = await runHerdctl(args, { cwd });
    expect(readFileSync(schema, "utf8")).toBe(printed.stdout);
    expect(JSON.parse(printed.stdout).$schema).toMatch(/^https:\/\/json-schema\.org\//);
  }
});

test.each([
  [["--example", "nope"], /no example `nope`[\s\S]*Examples: .*hello/],
  [["--name", "../up"], /"\.\.\/up" is not a valid name[\s\S]*letters, digits/],
])("refuses %j before writing anything", async (args, message) => {
  const cwd = tempFolderWith({});
  const run = await runHerdctl(["init", "--yes", ...args], { cwd });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(message);
  expect(readdirSync(cwd)).toEqual([]);
});

test("asks for the name and the example in a terminal", async () => {
  const cwd = tempFolderWith({});
  const { code, screen } = await runHerdctlInTerminal(["init"], {
    cwd,
    keys: [
      { when: "Name of the fleet", type: "two words\r" },
      { when: "Use letters, digits", type: `${"\x7f".repeat(9)}night-shift\r` },
      { when: "Example to start from", type: "\x1b[B\r" },
    ],
  });
  expect(code).toBe(0);
  expect(screen).toContain("night-shift");
  const fleet = readFileSync(join(cwd, "herdctl.yaml"), "utf8");
  expect(fleet).toContain("name: night-shift");
  expect(readdirSync(join(cwd, "agents"))).toEqual(["clerk.yaml"]);
});

test.each(["Name of the fleet", "Example to start from"])(
  "writes nothing when cancelled at “%s”",
  async (question) => {
    const cwd = tempFolderWith({});
    const first = { when: "Name of the fleet", type: "\r" };
    const leave = { when: question, type: "\x03" };
    const keys = question === first.when ? [leave] : [first, leave];
    const { code, screen } = await runHerdctlInTerminal(["init"], { cwd, keys });
    expect(code).toBe(4);
    expect(screen).toContain("No files were created.");
    expect(readdirSync(cwd)).toEqual([]);
  },
);

test("fits the purpose of an example beside its name in 80 columns", () => {
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

test.each([
  [{ ANTHROPIC_API_KEY: "key" }, undefined],
  [{ CLAUDE_CODE_OAUTH_TOKEN: "token" }, "cli"],
  [{ CLAUDE_CODE_OAUTH_TOKEN: "token", ANTHROPIC_API_KEY: "key" }, "cli"],
])("with %j, agents of the example hello use the runtime %s", async (env, runtime) => {
  const cwd = tempFolderWith({});
  await runHerdctl(["init", "--yes"], { cwd, env });
  const text = readFileSync(join(cwd, "herdctl.yaml"), "utf8");
  expect(/runtime: (\w+)/.exec(text)?.[1]).toBe(runtime);
});
