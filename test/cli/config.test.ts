import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "../support/folder.ts";
import { herdctl, herdctlInTerminal } from "./herdctl.ts";

const sixMistakes = {
  "herdctl.yaml": `version: 1
fleet: { name: six }
defaults:
  docker: { memory: 2x }
agents:
  - path: agents/*.yaml
`,
  "agents/a.yaml": `name: one
schedules:
  nightly: { type: cron, cron: "61 * * * *", prompt: go }
docker:
  netwrok: none
`,
  "agents/b.yaml": "name: one\nenv:\n  T: ${TOKEN}\n\tX: y\n",
};

const sixPlaces = [
  ["agents/a.yaml:3:32", "61 * * * *", "minute (0-59)"],
  ["agents/a.yaml:5:3", "`netwrok` is not known here", "Did you mean `network`?"],
  ["agents/b.yaml:1:7", "another agent called `one`", "Rename one of the two"],
  ["agents/b.yaml:3:6", "TOKEN is not set", "TOKEN"],
  ["agents/b.yaml:4:1", "a tab is used for indentation", "Indent with spaces"],
  ["herdctl.yaml:4:21", '"2x" is not a size', "such as `512m` or `2g`"],
];

test("six mistakes are reported in one run, each with its place and remedy", async () => {
  const run = await herdctl(["config", "check"], { cwd: folderWith(sixMistakes) });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  const lines = run.stderr.split("\n");
  for (const [place = "", message = "", remedy = ""] of sixPlaces) {
    const at = lines.findIndex((line) => line.includes(`${place} `));
    expect(lines[at]).toContain(message);
    expect(lines[at + 1]).toContain(remedy);
  }
  expect(run.stderr).toContain("6 problems.");
  expect(run.stderr).not.toMatch(/^\s+at /m);
});

test("with --json the six are one JSON value and nothing else", async () => {
  const cwd = folderWith(sixMistakes);
  const run = await herdctl(["config", "check", "--json"], { cwd });
  expect(run).toMatchObject({ code: 2, stderr: "" });
  const { errors, ...rest } = JSON.parse(run.stdout);
  expect(rest).toEqual({});
  expect(errors).toHaveLength(6);
  for (const error of errors) {
    expect(Object.keys(error).sort()).toEqual(
      ["column", "file", "hint", "line", "message", "path"].sort(),
    );
  }
  expect(errors[1]).toEqual({
    file: join(cwd, "agents/a.yaml"),
    line: 5,
    column: 3,
    path: "docker.netwrok",
    message: "`netwrok` is not known here",
    hint: "Did you mean `network`?",
  });
});

const secret = "s3cret-value";
const small = {
  "fleet/herdctl.yaml": `version: 1
fleet: { name: small }
agents:
  - name: one
    max_turns: 5
    env: { API_TOKEN: "\${TOKEN}" }
  - name: two
`,
};

test("a fleet is found from a folder below it, or named by file or by folder", async () => {
  const cwd = folderWith({ ...small, "fleet/deep/er/.keep": "", "elsewhere/.keep": "" });
  const env = { TOKEN: secret };
  const check = ["config", "check"];
  const runs = await Promise.all([
    herdctl(check, { cwd: join(cwd, "fleet/deep/er"), env }),
    herdctl([...check, "--config", "../fleet"], { cwd: join(cwd, "elsewhere"), env }),
    herdctl([...check, "-c", "../fleet/herdctl.yaml"], { cwd: join(cwd, "elsewhere"), env }),
  ]);
  for (const run of runs) expect(run).toMatchObject({ code: 0, stderr: "" });
});

test("no fleet, or none where --config says, is told with the way out", async () => {
  const cwd = folderWith({});
  const none = await herdctl(["config", "check"], { cwd });
  expect(none.code).toBe(2);
  expect(none.stderr).toMatch(/no herdctl\.yaml[\s\S]*herdctl init/);
  const named = await herdctl(["config", "check", "--config", "nowhere", "--json"], { cwd });
  expect(named).toMatchObject({ code: 2, stderr: "" });
  expect(JSON.parse(named.stdout)).toMatchObject({ errors: [{ code: "config_not_found" }] });
});

test("show prints each value with its origin, and no secret", async () => {
  const cwd = join(folderWith(small), "fleet");
  const run = await herdctl(["config", "show"], { cwd, env: { TOKEN: secret } });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(run.stdout).toMatch(/^fleet$[\s\S]*fleet\.name +small +herdctl\.yaml:2$/m);
  expect(run.stdout).toMatch(/^ +max_turns +5 +herdctl\.yaml:5$/m);
  expect(run.stdout).toMatch(/^ +timeouts\.wall +1h +default$/m);
  expect(run.stdout).toMatch(/^ +env\.API_TOKEN +•+ \(\$TOKEN\) +herdctl\.yaml:6$/m);
  expect(run.stdout).not.toContain(secret);
  expect(run.stdout).not.toContain("\x1b[");
});

test("show AGENT --json is that agent alone, as one JSON value", async () => {
  const cwd = join(folderWith(small), "fleet");
  const run = await herdctl(["config", "show", "one", "--json"], { cwd, env: { TOKEN: secret } });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(run.stdout).not.toContain(secret);
  const shown = JSON.parse(run.stdout);
  expect(Object.keys(shown)).toEqual(["agents"]);
  expect(shown.agents).toHaveLength(1);
  expect(shown.agents[0].values).toContainEqual({
    path: "max_turns",
    value: 5,
    from: { file: join(cwd, "herdctl.yaml"), line: 5, column: 16 },
  });
});

test("show of an agent that is not there names those that are", async () => {
  const cwd = join(folderWith(small), "fleet");
  const run = await herdctl(["config", "show", "three"], { cwd, env: { TOKEN: secret } });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(/no agent `three`[\s\S]*one, two/);
});

test("a value with a long prompt is cut to the screen, and whole in a file", async () => {
  const prompt =
    "Look at everything that changed since yesterday and write down what matters. ".repeat(3);
  const cwd = folderWith({
    "herdctl.yaml": `version: 1\nfleet: { name: long }\nagents:\n  - { name: one, default_prompt: "${prompt}" }\n`,
  });
  const inFile = await herdctl(["config", "show", "one"], { cwd });
  expect(inFile.stdout).toContain(prompt);
  const { code, screen } = await herdctlInTerminal(["config", "show", "one"], { cwd, keys: [] });
  expect(code).toBe(0);
  expect(screen).toContain("\x1b[");
  const widths = screen.split("\r\n").map((line) => line.replaceAll(/\x1b\[\d+m/g, "").length);
  expect(Math.max(...widths)).toBeLessThanOrEqual(100);
});
