import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolderWith } from "../support/temp-folder.ts";
import { runHerdctl, runHerdctlInTerminal } from "./run-herdctl.ts";

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

const sixProblems = [
  ["agents/a.yaml:3:32", "61 * * * *", "minute (0-59)"],
  ["agents/a.yaml:5:3", "unknown key `netwrok`", "Did you mean `network`?"],
  ["agents/b.yaml:1:7", "another agent is also called `one`", "Rename one of the two"],
  ["agents/b.yaml:3:6", "TOKEN is not set", "TOKEN"],
  ["agents/b.yaml:4:1", "a tab is used for indentation", "Indent with spaces"],
  ["herdctl.yaml:4:21", '"2x" is not a size', "such as `512m` or `2g`"],
];

test("reports six mistakes in one run, each with its position and a hint", async () => {
  const run = await runHerdctl(["config", "check"], { cwd: tempFolderWith(sixMistakes) });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  const lines = run.stderr.split("\n");
  for (const [place = "", message = "", remedy = ""] of sixProblems) {
    const at = lines.findIndex((line) => line.includes(`${place} `));
    expect(lines[at]).toContain(message);
    expect(lines[at + 1]).toContain(remedy);
  }
  expect(run.stderr).toContain("6 problems.");
  expect(run.stderr).not.toMatch(/^\s+at /m);
});

test("prints exactly one JSON value for six mistakes with --json", async () => {
  const cwd = tempFolderWith(sixMistakes);
  const run = await runHerdctl(["config", "check", "--json"], { cwd });
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
    message: "unknown key `netwrok`",
    hint: "Did you mean `network`?",
  });
});

const secret = "s3cret-value";
const smallFleet = {
  "fleet/herdctl.yaml": `version: 1
fleet: { name: small }
agents:
  - name: one
    max_turns: 5
    env: { API_TOKEN: "\${TOKEN}" }
  - name: two
`,
};

test("finds a fleet from a subfolder, by file and by folder", async () => {
  const cwd = tempFolderWith({ ...smallFleet, "fleet/deep/er/.keep": "", "elsewhere/.keep": "" });
  const env = { TOKEN: secret, ANTHROPIC_API_KEY: "made-up-key" };
  const check = ["config", "check"];
  const runs = await Promise.all([
    runHerdctl(check, { cwd: join(cwd, "fleet/deep/er"), env }),
    runHerdctl([...check, "--config", "../fleet"], { cwd: join(cwd, "elsewhere"), env }),
    runHerdctl([...check, "-c", "../fleet/herdctl.yaml"], { cwd: join(cwd, "elsewhere"), env }),
  ]);
  for (const run of runs) expect(run).toMatchObject({ code: 0, stderr: "" });
});

test("warns about agents that cannot sign in, and accepts the configuration", async () => {
  const cwd = join(tempFolderWith(smallFleet), "fleet");
  const run = await runHerdctl(["config", "check"], { cwd, env: { TOKEN: secret } });
  expect(run).toMatchObject({ code: 0 });
  expect(run.stderr).toMatch(/^! 2 of 2 agents cannot sign in \(one, two\) {2}there is no API key/);
  expect(run.stderr).toContain("Set ANTHROPIC_API_KEY");
  expect(run.stdout).toMatch(/, 1 warning$/m);
});

test("explains a missing fleet file and a wrong --config path", async () => {
  const cwd = tempFolderWith({});
  const none = await runHerdctl(["config", "check"], { cwd });
  expect(none.code).toBe(2);
  expect(none.stderr).toMatch(/no herdctl\.yaml[\s\S]*herdctl init/);
  const named = await runHerdctl(["config", "check", "--config", "nowhere", "--json"], { cwd });
  expect(named).toMatchObject({ code: 2, stderr: "" });
  expect(JSON.parse(named.stdout)).toMatchObject({ errors: [{ code: "config_not_found" }] });
});

test("prints each value with its origin and no secret in config show", async () => {
  const cwd = join(tempFolderWith(smallFleet), "fleet");
  const run = await runHerdctl(["config", "show"], { cwd, env: { TOKEN: secret } });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(run.stdout).toMatch(/^fleet$[\s\S]*fleet\.name +small +herdctl\.yaml:2$/m);
  expect(run.stdout).toMatch(/^ +max_turns +5 +herdctl\.yaml:5$/m);
  expect(run.stdout).toMatch(/^ +timeouts\.total +1h +default$/m);
  expect(run.stdout).toMatch(/^ +env\.API_TOKEN +•+ \(\$TOKEN\) +herdctl\.yaml:6$/m);
  expect(run.stdout).not.toContain(secret);
  expect(run.stdout).not.toContain("\x1b[");
});

test("prints one agent as one JSON value in config show AGENT --json", async () => {
  const cwd = join(tempFolderWith(smallFleet), "fleet");
  const run = await runHerdctl(["config", "show", "one", "--json"], {
    cwd,
    env: { TOKEN: secret },
  });
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

test("lists the known agents when config show names an unknown one", async () => {
  const cwd = join(tempFolderWith(smallFleet), "fleet");
  const run = await runHerdctl(["config", "show", "three"], { cwd, env: { TOKEN: secret } });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(/no agent `three`[\s\S]*one, two/);
});

test("truncates a long prompt to the screen width and prints it whole to a file", async () => {
  const prompt =
    "Look at everything that changed since yesterday and write down what matters. ".repeat(3);
  const cwd = tempFolderWith({
    "herdctl.yaml": `version: 1\nfleet: { name: long }\nagents:\n  - { name: one, default_prompt: "${prompt}" }\n`,
  });
  const inFile = await runHerdctl(["config", "show", "one"], { cwd });
  expect(inFile.stdout).toContain(prompt);
  const { code, screen } = await runHerdctlInTerminal(["config", "show", "one"], { cwd, keys: [] });
  expect(code).toBe(0);
  expect(screen).toContain("\x1b[");
  const widths = screen.split("\r\n").map((line) => line.replaceAll(/\x1b\[\d+m/g, "").length);
  expect(Math.max(...widths)).toBeLessThanOrEqual(100);
});
