import { basename } from "node:path";
import { expect, test } from "vitest";
import {
  configProblems,
  fleetHeader,
  inlineAgent,
  loadTestFleet,
} from "../support/fleet-config.ts";

test("reports six mistakes in one run, each with its position and a hint", () => {
  const problems = configProblems({
    "herdctl.yaml": `${fleetHeader}defaults:
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
  });
  const seen = problems.map(
    ({ file, line, column, message }) => `${basename(file)}:${line}:${column} ${message}`,
  );
  expect(seen).toEqual([
    'a.yaml:3:32 "61 * * * *" is not a cron expression (invalid value for minute: 61)',
    "a.yaml:5:3 unknown key `netwrok`",
    "b.yaml:1:7 another agent is also called `one`",
    "b.yaml:3:6 the environment variable TOKEN is not set",
    "b.yaml:4:1 a tab is used for indentation",
    'herdctl.yaml:4:21 "2x" is not a size',
  ]);
  expect(problems.every((problem) => problem.hint.length > 10)).toBe(true);
  expect(problems[1]?.hint).toBe("Did you mean `network`?");
});

test("finds the same six mistakes in a single file", () => {
  const problems = configProblems({
    "herdctl.yaml": `${fleetHeader}agents:
  - name: one
    env: { T: "\${TOKEN}" }
    docker: { memory: 2x, netwrok: none }
  - name: one
    schedules:
      n:
        type: cron
\t\t\t\tcron: "61 * * * *"
        prompt: go
`,
  });
  expect(problems.map((problem) => problem.message)).toEqual([
    "the environment variable TOKEN is not set",
    '"2x" is not a size',
    "unknown key `netwrok`",
    "another agent is also called `one`",
    "a tab is used for indentation",
    expect.stringContaining("not a cron expression"),
  ]);
});

test.each([
  ["a number", "server: { port: ${THIS} }"],
  ["an address", "store: ${THIS}"],
  ["an enum value", "defaults: { runtime: ${THIS} }"],
])("reports an unset variable once, also in place of %s", (_what, line) => {
  const problems = configProblems({
    "herdctl.yaml": `${fleetHeader}${line}\nagents:\n  - name: one\n`,
  });
  expect(problems.map(({ message }) => message)).toEqual([
    "the environment variable THIS is not set",
  ]);
});

const invalidValues: [yaml: string, message: RegExp, hint: RegExp][] = [
  ["runtime: skd", /"skd" is not one of sdk, cli/, /Did you mean `sdk`/],
  ["runtime: { type: clii }", /"clii" is not one of sdk, cli/, /cli/],
  ["runtime: { typ: cli }", /unknown key `typ`|`type` is missing/, /type/],
  [
    "runtime: cli\ncredential: subscription\ndocker: { enabled: true }",
    /no access to the subscription/,
    /auth: env.*auth: mount.*fleet file/,
  ],
  ["permission_mode: acceptedits", /not one of/, /Did you mean `acceptEdits`/],
  ["timeouts: { total: 1x }", /"1x" is not a duration/, /5m/],
  ["timeouts: { total: 30 }", /30 is not a text/, /whole run/],
  ["timeouts: { total: 0s }", /not a positive duration/, /more than zero/],
  ["timeouts: { total: 0.4ms }", /not a positive duration/, /more than zero/],
  ["keep_alive: { sessions: soon }", /"soon" is not a duration/, /30s/],
  [
    "schedules: { s: { type: interval, every: 5m, prompt: 'Look at {{gate.output}}' } }",
    /unknown placeholder `\{\{gate.output\}\}`/,
    /Add a `gate:`/,
  ],
  [
    "schedules: { s: { type: cron, cron: '@daily', gate: { command: x }, prompt: '{{ payload.title }}' } }",
    /unknown placeholder/,
    /Available here: `\{\{gate.output\}\}`/,
  ],
  [
    "schedules: { s: { type: webhook, signature: { kind: token, secret_env: S }, prompt: 'Look at {{gate.output}}' } }",
    /unknown placeholder `\{\{gate.output\}\}`/,
    /Add a `gate:`/,
  ],
  [
    "schedules: { s: { type: webhook, signature: { kind: token, secret_env: S }, prompt: 'Look at {{issue.title}}' } }",
    /unknown placeholder `\{\{issue.title\}\}`/,
    /Available here: `\{\{payload\}\}`, `\{\{event\}\}`, `\{\{command\}\}`, `\{\{gate.output\}\}`/,
  ],
  ["docker: { memory: lots }", /"lots" is not a size/, /2g/],
  ["docker: { cpus: -1 }", /-1 is too small/, /more than 0/],
  ["docker: { cpus: two }", /"two" is not a number/, /CPU limit/],
  ["docker: { network: brigde }", /not one of none, bridge, host/, /Did you mean `bridge`/],
  ["docker: { pids_limit: 20 }", /20 is too small/, /at least 100/],
  ["docker: { volumes: ['-cache:/cache'] }", /"-cache" is neither a path nor/, /Begin a path/],
  ["docker: { volumes: ['./a:cache'] }", /cannot be a target/, /absolute path/],
  ["docker: { volumes: ['./a:/b/../etc'] }", /cannot be a target/, /absolute path/],
  ["docker: { volumes: ['./a:/b:rx'] }", /"rx" is not ro or rw/, /source:\/target/],
  ["docker: { volumes: ['./a'] }", /is not a volume/, /source:\/target/],
  ["docker: { user: root }", /not a user/, /other than root/],
  ["docker: { user: '0:0' }", /not a user/, /other than root/],
  ["docker: { image: '../x' }", /not an image name/, /name:tag/],
  ["docker: { egress: ['10.0.0.1'] }", /not a host name/, /preset/],
  ["docker: { egress: ['http://x'] }", /not a host name/, /preset/],
  ["docker: { egress: ['0x7f.0.0.0x1'] }", /not a host name/, /preset/],
  ["docker: { egress: ['a.b:70000'] }", /not a host name/, /preset/],
  ["docker: { egress: [nmp] }", /"nmp" is not a preset/, /npm, github, pypi, debian/],
  ["docker: { egress: [{ host: a.b, address: nope }] }", /not an IP address/, /IP address/],
  ["docker: { api_features: [websearch] }", /not one of web_search/, /Did you mean `web_search`/],
  ["docker: { tmpfs: [/proc] }", /cannot be mounted/, /absolute path/],
  [
    "schedules: { s: { type: cron, cron: '* *', prompt: x } }",
    /not a cron expression/,
    /Five fields/,
  ],
  [
    "schedules: { s: { type: cron, cron: '0 0 30 2 *', prompt: x } }",
    /never matches a date/,
    /exists/,
  ],
  ["schedules: { s: { type: cron, prompt: x } }", /`cron` is missing/, /Add `cron:`/],
  [
    "schedules: { s: { type: corn, prompt: x } }",
    /"corn" is not one of interval, cron/,
    /Did you mean `cron`/,
  ],
  [
    "schedules: { s: { every: 5m, prompt: x } }",
    /`type` is missing/,
    /interval, cron, at, webhook, chat/,
  ],
  [
    "schedules: { s: { type: cron, cron: '@daily', every: 5m, prompt: x } }",
    /unknown key `every`/,
    /Use one of/,
  ],
  [
    "schedules: { s: { type: cron, cron: '@daily', timezone: Europe/Berln, prompt: x } }",
    /not a time zone/,
    /Did you mean `Europe\/Berlin`/,
  ],
  ["schedules: { s: { type: interval, every: soon, prompt: x } }", /not a duration/, /5m/],
  [
    "schedules: { s: { type: at, at: '2026-02-31T09:00', prompt: x } }",
    /not a point in time/,
    /2026/,
  ],
  ["schedules: { s: { type: interval, every: 5m } }", /has no prompt/, /default_prompt/],
  [
    "schedules: { ../s: { type: interval, every: 5m, prompt: x } }",
    /not a valid name/,
    /letters, digits/,
  ],
  ["schedules: { s: { type: chat } }", /no chat platform/, /chat:/],
  ["schedules: { s: { type: webhook, prompt: x } }", /`signature` is missing/, /signature/],
  [
    "schedules: { s: { type: webhook, prompt: x, signature: { kind: hmac, secret_env: S } } }",
    /needs a `header`/,
    /X-Signature/,
  ],
  [
    "schedules: { s: { type: webhook, prompt: x, signature: { kind: github, secret_env: 'a b' } } }",
    /name of an environment variable/,
    /GITHUB_TOKEN/,
  ],
  ["mcp_servers: { m: { url: ftp://x, type: http } }", /not a usable URL/, /https:\/\//],
  ["mcp_servers: { m: { comand: npx } }", /unknown key `comand`|`command` is missing/, /command/],
  [
    "schedules: { s: { type: webhook, prompt: x, comment_command: /herd, signature: { kind: slack, secret_env: S } } }",
    /`comment_command` works only with `kind: github`/,
    /filter/,
  ],
  [
    "schedules: { s: { type: webhook, prompt: x, comment_command: herd, signature: { kind: github, secret_env: S } } }",
    /"herd" is not a command/,
    /`\/herd`/,
  ],
  ["hooks: { after_run: [{ type: webhook, url: nope }] }", /not a usable URL/, /https/],
  [
    "hooks: { after_run: [{ type: mail, url: nope }] }",
    /not one of shell, webhook/,
    /Use one of|mean/,
  ],
  ["allowed_tools: Read", /"Read" is not a list/, /list/],
  ["allowed_tools: [Read]\ndenied_tools: [Read]", /both allowed and denied/, /one of the two/],
  ["max_turns: 0", /0 is too small/, /more than 0|at least 1/],
  ["max_turns: many", /"many" is not a whole number|not a number/, /turns per run/],
  ["env: [A]", /a list is not a block of keys/, /block of keys/],
  ["docker:", /an empty value is not a block/, /block of keys/],
  ["credential: subscription", /SDK runtime cannot use a subscription/, /runtime: cli/],
  ["runtime: { type: cli, stream: session-file }", /cannot ask for permission/, /permission_mode/],
  ["runtime: { type: sdk, stream: session-file }", /only the CLI runtime/, /type: cli/],
  ["model: a\nfallback_model: a", /same as `model`/, /another model/],
  ["metadata_file: ../out.json", /inside the working directory/, /without `..`/],
  ["metadata_file: /etc/passwd", /inside the working directory/, /relative/],
  ["may_trigger: [tow]", /no agent `tow`/, /Remove|Use one of|mean/],
  ["may_trigger: [one]", /cannot trigger itself/, /./],
  ["prmopt: x", /unknown key `prmopt`/, /Use one of|Did you mean/],
  ["default_prompt: '  '", /the text is empty/, /Write something/],
  ["work_source: { type: github, repo: nope, labels: [x] }", /not a repository/, /owner\/name/],
  ["chat: { discord: { token_env: 'x y' } }", /name of an environment variable/, /environment/],
];

const reservedVariables = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "ANTHROPIC_BASE_URL",
  "ANTHROPIC_UNIX_SOCKET",
  "CLAUDECODE",
  "CLAUDE_CODE_OAUTH_TOKEN",
  "CLAUDE_CONFIG_DIR",
  "HERDCTL_JOB",
  "HERDCTL_RUN",
];

test.each(reservedVariables)("refuses %s in an agent, because herdctl sets it", (name) => {
  const agentFile = `name: one\nenv:\n  OWN: x\n  ${name}: x\ndocker:\n  env: { ${name}: x }\n`;
  const problems = configProblems({
    "herdctl.yaml": `${fleetHeader}agents: [{ path: one.yaml }]\n`,
    "one.yaml": agentFile,
  });
  const message = `herdctl sets ${name} itself`;
  expect(problems).toEqual([
    expect.objectContaining({ line: 4, column: 3, path: `env.${name}`, message }),
    expect.objectContaining({ line: 6, column: 10, path: `docker.env.${name}`, message }),
  ]);
  expect(problems[0]?.hint).toContain(".env");
});

test.each(invalidValues)("reports %s", (yaml, message, hint) => {
  const problems = configProblems(inlineAgent(yaml));
  const found = problems.find((problem) => message.test(problem.message));
  expect(found, JSON.stringify(problems, null, 1)).toBeDefined();
  expect(problems.map((problem) => problem.hint).join("\n")).toMatch(hint);
  expect(found?.line).toBeGreaterThan(3);
});

const invalidFleets: [fleet: string, message: RegExp][] = [
  ["version: 2\nfleet: { name: x }", /2 is not 1/],
  ["version: 1\nfleet: nope", /"nope" is not a block of keys/],
  ["version: 1\nfleet: { name: ../x }", /not a valid name/],
  ["version: 1\nfleet: { name: x }\nserver: { port: 70000 }", /70000 is too large/],
  ["version: 1\nfleet: { name: x }\nstore: mysql://x", /not a usable URL/],
  ["version: 1\nfleet: { name: x }\nagents: [{ path: nope.yaml }]", /nope.yaml does not exist/],
  ["version: 1\nfleet: { name: x }\nagents: [{ path: 'no/*.yaml' }]", /matches no file/],
  ["version: 1\nfleet: { name: x }\nfleets: [{ path: nowhere }]", /nowhere does not exist/],
  ["version: 1\nfleet: { name: x }\ndefaults: { modle: x }", /unknown key `modle`/],
  ["version: 1\nfleet: { name: x }\nagents: [{ name: 'a/b' }]", /not a valid name/],
  ["version: 1\nfleet: { name: x }\nagents: [{ description: x }]", /`name` is missing/],
  ["version: 1\nfleet: { name: x }\nagents: nope", /"nope" is not a list/],
  ["version: 1\nversion: 1\nfleet: { name: x }", /written twice/],
  ["version: 1\n---\nversion: 1", /more than one YAML document/],
  ["version: 1\nfleet: { name: [x }", /not valid YAML/],
  ["just text", /is not a block of keys/],
  ["", /file is empty/],
];

test.each(invalidFleets)("reports the fleet file %j", (fleet, message) => {
  const problems = configProblems({ "herdctl.yaml": fleet });
  expect(problems.map((problem) => problem.message).join("\n")).toMatch(message);
  expect(
    problems.every((problem) => problem.line > 0 && problem.column > 0 && problem.hint !== ""),
  ).toBe(true);
});

test("reports a wrong value in defaults once, not once per agent", () => {
  const problems = configProblems({
    "herdctl.yaml": `${fleetHeader}defaults: { max_turns: no }\nagents: [{ name: a }, { name: b }, { name: c }]`,
  });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ line: 3, column: 24 });
});

test("never repeats a value from the environment in an error", () => {
  const problems = configProblems(
    inlineAgent("docker: { memory: ${SECRET} }\nmax_turns: ${SECRET}"),
    {
      SECRET: "hunter2",
    },
  );
  expect(problems).toHaveLength(2);
  expect(JSON.stringify(problems)).not.toContain("hunter2");
  expect(problems[0]?.message).toContain("the value of SECRET");
});

test("reports one syntax error as one problem", () => {
  const problems = configProblems({
    "herdctl.yaml": `${fleetHeader}server: { port: {a} }}\nagents: []\nstore: x`,
  });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ line: 3 });
});

test("treats keys like __proto__ as unknown keys", () => {
  const problems = configProblems(
    inlineAgent("__proto__: { docker: { enabled: true } }\nconstructor: x"),
  );
  expect(problems.map((problem) => problem.path)).toContain("constructor");
  expect(() => loadTestFleet(inlineAgent("__proto__: { model: x }"))).toThrow(/__proto__/);
});
