import { basename } from "node:path";
import { expect, test } from "vitest";
import { fleetHead, inlineAgent, load, problemsOf } from "../support/fleet.ts";

test("six mistakes in one fleet are all reported in one run, each with place and remedy", () => {
  const problems = problemsOf({
    "herdctl.yaml": `${fleetHead}defaults:
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
    "a.yaml:5:3 `netwrok` is not known here",
    "b.yaml:1:7 there is another agent called `one`",
    "b.yaml:3:6 the environment variable TOKEN is not set",
    "b.yaml:4:1 a tab is used for indentation",
    'herdctl.yaml:4:21 "2x" is not a size',
  ]);
  expect(problems.every((problem) => problem.hint.length > 10)).toBe(true);
  expect(problems[1]?.hint).toBe("Did you mean `network`?");
});

test("the same six in a single file are found too", () => {
  const problems = problemsOf({
    "herdctl.yaml": `${fleetHead}agents:
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
    "`netwrok` is not known here",
    "there is another agent called `one`",
    "a tab is used for indentation",
    expect.stringContaining("not a cron expression"),
  ]);
});

test.each([
  ["a number", "server: { port: ${THIS} }"],
  ["an address", "store: ${THIS}"],
  ["one of a few words", "defaults: { runtime: ${THIS} }"],
])("a variable that is not set is one mistake, also where %s belongs", (_what, line) => {
  const problems = problemsOf({ "herdctl.yaml": `${fleetHead}${line}\nagents:\n  - name: one\n` });
  expect(problems.map(({ message }) => message)).toEqual([
    "the environment variable THIS is not set",
  ]);
});

const wrongValues: [yaml: string, message: RegExp, hint: RegExp][] = [
  ["runtime: skd", /"skd" is not one of sdk, cli/, /Did you mean `sdk`/],
  ["runtime: { type: clii }", /"clii" is not one of sdk, cli/, /cli/],
  ["runtime: { typ: cli }", /`typ` is not known|`type` is missing/, /type/],
  [
    "runtime: cli\ncredential: subscription\ndocker: { enabled: true }",
    /the subscription has no way into the container/,
    /auth: env.*auth: mount.*fleet file/,
  ],
  ["permission_mode: acceptedits", /not one of/, /Did you mean `acceptEdits`/],
  ["timeouts: { wall: 1x }", /"1x" is not a duration/, /5m/],
  ["timeouts: { wall: 30 }", /30 is not a text/, /whole run/],
  ["timeouts: { wall: 0s }", /no time at all/, /more than zero/],
  ["timeouts: { wall: 0.4ms }", /no time at all/, /more than zero/],
  ["session: { live: soon }", /"soon" is not a duration/, /30s/],
  [
    "schedules: { s: { type: interval, every: 5m, prompt: 'Look at {{gate.output}}' } }",
    /nothing can be put in place of `\{\{gate.output\}\}`/,
    /Add a `gate:`/,
  ],
  [
    "schedules: { s: { type: cron, cron: '@daily', gate: { command: x }, prompt: '{{ payload.title }}' } }",
    /nothing can be put in place of/,
    /only `\{\{gate.output\}\}`/,
  ],
  [
    "schedules: { s: { type: webhook, signature: { kind: token, secret_env: S }, prompt: 'Look at {{gate.output}}' } }",
    /nothing can be put in place of `\{\{gate.output\}\}`/,
    /Add a `gate:`/,
  ],
  [
    "schedules: { s: { type: webhook, signature: { kind: token, secret_env: S }, prompt: 'Look at {{issue.title}}' } }",
    /nothing can be put in place of `\{\{issue.title\}\}`/,
    /only `\{\{payload\}\}`, `\{\{event\}\}`, `\{\{command\}\}`, `\{\{gate.output\}\}`/,
  ],
  ["docker: { memory: lots }", /"lots" is not a size/, /2g/],
  ["docker: { cpus: -1 }", /-1 is too small/, /more than 0/],
  ["docker: { cpus: two }", /"two" is not a number/, /CPU limit/],
  ["docker: { network: brigde }", /not one of none, bridge, host/, /Did you mean `bridge`/],
  ["docker: { pids_limit: 20 }", /20 is too small/, /at least 100/],
  ["docker: { volumes: [cache:/cache] }", /"cache" is not a path/, /Begin the source/],
  ["docker: { volumes: ['./a:cache'] }", /cannot be a target/, /absolute path/],
  ["docker: { volumes: ['./a:/b/../etc'] }", /cannot be a target/, /absolute path/],
  ["docker: { volumes: ['./a:/b:rx'] }", /"rx" is not ro or rw/, /source:\/target/],
  ["docker: { volumes: ['./a'] }", /is not a volume/, /source:\/target/],
  ["docker: { user: root }", /not a user/, /other than root/],
  ["docker: { user: '0:0' }", /not a user/, /other than root/],
  ["docker: { image: '../x' }", /not the name of an image/, /name:tag/],
  ["docker: { egress: ['10.0.0.1'] }", /not a host name/, /preset/],
  ["docker: { egress: ['http://x'] }", /not a host name/, /preset/],
  ["docker: { egress: ['0x7f.0.0.0x1'] }", /not a host name/, /preset/],
  ["docker: { egress: ['a.b:70000'] }", /not a host name/, /preset/],
  ["docker: { egress: [nmp] }", /"nmp" is not a preset/, /npm, github, pypi, debian/],
  ["docker: { egress: [{ host: a.b, address: nope }] }", /not an IP address/, /is reached/],
  ["docker: { api_reach: [websearch] }", /not one of web_search/, /Did you mean `web_search`/],
  ["docker: { tmpfs: [/proc] }", /cannot be mounted/, /absolute path/],
  [
    "schedules: { s: { type: cron, cron: '* *', prompt: x } }",
    /not a cron expression/,
    /Five fields/,
  ],
  ["schedules: { s: { type: cron, cron: '0 0 30 2 *', prompt: x } }", /never comes due/, /exists/],
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
    /`every` is not known here/,
    /Known here/,
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
  ["schedules: { s: { type: chat } }", /in no chat/, /chat:/],
  ["schedules: { s: { type: webhook, prompt: x } }", /`signature` is missing/, /signature/],
  [
    "schedules: { s: { type: webhook, prompt: x, signature: { kind: hmac, secret_env: S } } }",
    /header of the signature/,
    /X-Signature/,
  ],
  [
    "schedules: { s: { type: webhook, prompt: x, signature: { kind: github, secret_env: 'a b' } } }",
    /name of an environment variable/,
    /GITHUB_TOKEN/,
  ],
  ["mcp_servers: { m: { url: ftp://x, type: http } }", /not a usable URL/, /https:\/\//],
  ["mcp_servers: { m: { comand: npx } }", /`comand` is not known|`command` is missing/, /command/],
  [
    "schedules: { s: { type: webhook, prompt: x, command: /herd, signature: { kind: slack, secret_env: S } } }",
    /`command` is for webhooks of GitHub/,
    /filter/,
  ],
  [
    "schedules: { s: { type: webhook, prompt: x, command: herd, signature: { kind: github, secret_env: S } } }",
    /"herd" is not a command/,
    /`\/herd`/,
  ],
  ["hooks: { after_run: [{ type: webhook, url: nope }] }", /not a usable URL/, /https/],
  ["hooks: { after_run: [{ type: mail, url: nope }] }", /not one of shell, webhook/, /Known|mean/],
  ["allowed_tools: Read", /"Read" is not a list/, /list/],
  ["allowed_tools: [Read]\ndenied_tools: [Read]", /both allowed and denied/, /one of the two/],
  ["max_turns: 0", /0 is too small/, /more than 0|at least 1/],
  ["max_turns: many", /"many" is not a whole number|not a number/, /Turns/],
  ["env: [A]", /a list is not a block of keys/, /block of keys/],
  ["docker:", /an empty value is not a block/, /block of keys/],
  ["credential: subscription", /SDK runtime cannot use a subscription/, /runtime: cli/],
  ["runtime: { type: cli, stream: session-file }", /nobody can be asked/, /permission_mode/],
  ["runtime: { type: sdk, stream: session-file }", /only the CLI runtime/, /type: cli/],
  ["model: a\nfallback_model: a", /the model itself/, /another model/],
  ["metadata_file: ../out.json", /inside the working directory/, /without `..`/],
  ["metadata_file: /etc/passwd", /inside the working directory/, /relative/],
  ["may_trigger: [tow]", /no agent `tow`/, /Remove|Known|mean/],
  ["may_trigger: [one]", /cannot trigger itself/, /./],
  ["prmopt: x", /`prmopt` is not known here/, /Known here|Did you mean/],
  ["default_prompt: '  '", /the text is empty/, /Write something/],
  ["work_source: { type: github, repo: nope, labels: [x] }", /not a repository/, /owner\/name/],
  ["chat: { discord: { token_env: 'x y' } }", /name of an environment variable/, /environment/],
];

const decided = [
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

test.each(decided)("an agent cannot set %s, which herdctl decides on", (name) => {
  const agentFile = `name: one\nenv:\n  OWN: x\n  ${name}: x\ndocker:\n  env: { ${name}: x }\n`;
  const problems = problemsOf({
    "herdctl.yaml": `${fleetHead}agents: [{ path: one.yaml }]\n`,
    "one.yaml": agentFile,
  });
  const message = `herdctl itself decides on ${name}`;
  expect(problems).toEqual([
    expect.objectContaining({ line: 4, column: 3, path: `env.${name}`, message }),
    expect.objectContaining({ line: 6, column: 10, path: `docker.env.${name}`, message }),
  ]);
  expect(problems[0]?.hint).toContain(".env");
});

test.each(wrongValues)("%s", (yaml, message, hint) => {
  const problems = problemsOf(inlineAgent(yaml));
  const found = problems.find((problem) => message.test(problem.message));
  expect(found, JSON.stringify(problems, null, 1)).toBeDefined();
  expect(problems.map((problem) => problem.hint).join("\n")).toMatch(hint);
  expect(found?.line).toBeGreaterThan(3);
});

const wrongFleets: [fleet: string, message: RegExp][] = [
  ["version: 2\nfleet: { name: x }", /2 is not 1/],
  ["fleet: { name: x }", /`version` is missing/],
  ["version: 1", /`fleet` is missing/],
  ["version: 1\nfleet: { name: ../x }", /not a valid name/],
  ["version: 1\nfleet: { name: x }\nserver: { port: 70000 }", /70000 is too large/],
  ["version: 1\nfleet: { name: x }\nstore: mysql://x", /not a usable URL/],
  ["version: 1\nfleet: { name: x }\nagents: [{ path: nope.yaml }]", /nope.yaml does not exist/],
  ["version: 1\nfleet: { name: x }\nagents: [{ path: 'no/*.yaml' }]", /matches no file/],
  ["version: 1\nfleet: { name: x }\nfleets: [{ path: nowhere }]", /nowhere does not exist/],
  ["version: 1\nfleet: { name: x }\ndefaults: { modle: x }", /`modle` is not known here/],
  ["version: 1\nfleet: { name: x }\nagents: [{ name: 'a/b' }]", /not a valid name/],
  ["version: 1\nfleet: { name: x }\nagents: [{ description: x }]", /`name` is missing/],
  ["version: 1\nfleet: { name: x }\nagents: nope", /"nope" is not a list/],
  ["version: 1\nversion: 1\nfleet: { name: x }", /written twice/],
  ["version: 1\n---\nversion: 1", /more than one YAML document/],
  ["version: 1\nfleet: { name: [x }", /not valid YAML/],
  ["just text", /is not a block of keys/],
  ["", /file is empty/],
];

test.each(wrongFleets)("fleet file %j", (fleet, message) => {
  const problems = problemsOf({ "herdctl.yaml": fleet });
  expect(problems.map((problem) => problem.message).join("\n")).toMatch(message);
  expect(
    problems.every((problem) => problem.line > 0 && problem.column > 0 && problem.hint !== ""),
  ).toBe(true);
});

test("a wrong value in defaults is reported once, at its place, not once an agent", () => {
  const problems = problemsOf({
    "herdctl.yaml": `${fleetHead}defaults: { max_turns: no }\nagents: [{ name: a }, { name: b }, { name: c }]`,
  });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ line: 3, column: 24 });
});

test("a value that came out of the environment is never repeated in an error", () => {
  const problems = problemsOf(inlineAgent("docker: { memory: ${SECRET} }\nmax_turns: ${SECRET}"), {
    SECRET: "hunter2",
  });
  expect(problems).toHaveLength(2);
  expect(JSON.stringify(problems)).not.toContain("hunter2");
  expect(problems[0]?.message).toContain("the value of SECRET");
});

test("one slip in the syntax is one problem, not a cascade", () => {
  const problems = problemsOf({
    "herdctl.yaml": `${fleetHead}server: { port: {a} }}\nagents: []\nstore: x`,
  });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ line: 3 });
});

test("keys that try tricks with prototypes are unknown keys", () => {
  const problems = problemsOf(
    inlineAgent("__proto__: { docker: { enabled: true } }\nconstructor: x"),
  );
  expect(problems.map((problem) => problem.path)).toContain("constructor");
  expect(() => load(inlineAgent("__proto__: { model: x }"))).toThrow(/__proto__/);
});
