import { expect, test } from "vitest";
import { explainToolRule } from "../../packages/config/src/checks/advice.ts";
import { didYouMean } from "../../packages/config/src/yaml/did-you-mean.ts";
import {
  configProblems,
  fleetHeader,
  inlineAgent,
  loadTestFleet,
} from "../support/fleet-config.ts";

test.each([
  [
    "schedules:\n  s:\n    type: cron\n    cron: */5 * * * *",
    "begins with `*` needs quotes",
    'Write `cron: "*/5 * * * *"`.',
  ],
  [
    "default_prompt: Fix this: the tests",
    "contains a colon needs quotes",
    'Write `default_prompt: "Fix this: the tests"`.',
  ],
  ["docker: true", "", "Write `docker: { enabled: true }`."],
  ["session: persistent", "", "Write `session: { mode: persistent }`."],
  ["allowed_tools: Bash, Read", "", "Write a list: `allowed_tools: [Bash, Read]`."],
  ["schedules: [a]", "", "under its name, such as `schedules: { nightly:"],
  ["schedules: { s: { type: interval, every: 300, prompt: x } }", "", "such as `300s` or `5m`"],
  [
    "disallowed_tools: [Bash]",
    "unknown key `disallowed_tools`",
    "Here it is called `denied_tools`.",
  ],
  ["disallowedTools: [Bash]", "unknown key `disallowedTools`", "Here it is called `denied_tools`."],
  ["permissionMode: plan", "", "Here it is called `permission_mode`."],
])("explains %j", (yaml, message, hint) => {
  const agent = yaml.replaceAll("\n", "\n    ");
  const [first] = configProblems({
    "herdctl.yaml": `${fleetHeader}agents:\n  - name: one\n    ${agent}\n`,
  });
  expect(first?.message).toContain(message);
  expect(first?.hint).toContain(hint);
});

test.each([
  ["disallowed_tools", ["allowed_tools"], undefined],
  ["unallowed_tools", ["allowed_tools"], undefined],
  ["disabled", ["enabled"], undefined],
  ["denied_tool", ["denied_tools", "allowed_tools"], "denied_tools"],
  ["alowed_tools", ["denied_tools", "allowed_tools"], "allowed_tools"],
  ["dokcer", ["docker"], "docker"],
  ["bash", ["ask"], undefined],
  ["aks", ["ask"], "ask"],
  ["as", ["ask"], "ask"],
] as const)("suggests for %s of %j: %s", (word, known, suggestion) => {
  expect(didYouMean(word, known)).toBe(suggestion);
});

test.each([
  ["Bash", undefined],
  ["Bash(npm test *)", undefined],
  ["mcp__github__*", undefined],
  ["Cron*", undefined],
  ["bash", "Did you mean `Bash`?"],
  ["Webfetch", "Did you mean `WebFetch`?"],
  ["Raed", "Did you mean `Read`?"],
  ["Bash(npm test", 'Write `"Bash(npm test)"`.'],
  ["Frobnicate", "has no effect"],
])("evaluates the rule %s: %s", (rule, hint) => {
  const found = explainToolRule(rule);
  if (hint === undefined) expect(found).toBeUndefined();
  else expect(found?.hint).toContain(hint);
});

test("warns of a fleet without agents, of tools and of paths, and loads it", () => {
  expect(loadTestFleet({ "herdctl.yaml": fleetHeader }).warnings).toMatchObject([
    { message: "the fleet has no agents" },
  ]);
  const yaml = "allowed_tools: [bash]\nplugins: [./nope]\nmcp_servers: { a: { command: ./b } }";
  expect(
    loadTestFleet(inlineAgent(yaml))
      .warnings.map(({ path }) => path)
      .sort(),
  ).toEqual(["allowed_tools[0]", "mcp_servers.a.command", "plugins.0"]);
});
