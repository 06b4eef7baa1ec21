import { expect, test } from "vitest";
import {
  findExfiltrationPaths,
  findUntrustedInputs,
} from "../../packages/core/src/doctor/posture/exposure.ts";
import { findReachableSecrets } from "../../packages/core/src/doctor/posture/reachable-secrets.ts";
import { evaluateRuleOfTwo } from "../../packages/core/src/doctor/posture/rule-of-two.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";

const loadOneAgent = (yaml: string, env = {}) =>
  loadTestFleet(inlineAgent(`default_prompt: go\n${yaml}`), env);

const bypass = "permission_mode: bypassPermissions";
const hook = "schedules: { hook: { type: webhook, signature: { kind: github, secret_env: S } } }";
const docker = (more = "") => `working_directory: /srv\ndocker: { enabled: true${more} }`;
const files = "every file of this user, such as SSH keys and logins";
const variables = {
  ANTHROPIC_API_KEY: "made-up",
  PGPASSWORD: "made-up-too",
  MAX_TOKENS: "31999",
  DATABASE: "postgres://me:made-up@db.test/shop",
  REGION: "eu-central-1",
};
const notificationHooks = {
  webhook: "{ type: webhook, url: 'https://hooks.test/a' }",
  discord: "{ type: discord, url: 'https://discord.com/api/webhooks/a' }",
  slack: "{ type: slack, url: 'https://hooks.slack.com/a' }",
  shell: "{ type: shell, command: ./notify }",
};
const server =
  "mcp_servers: { github: { command: npx, env: { GITHUB_TOKEN: made-up, LOG_LEVEL: info } } }";

test.each([
  ["without any options", "", [], [], []],
  ["that may edit", "permission_mode: acceptEdits", [], [], []],
  [
    "that may use every tool",
    bypass,
    ["WebFetch", "WebSearch"],
    [files],
    ["Bash on this machine", "WebFetch", "WebSearch"],
  ],
  [
    "that may use every tool except the web",
    `${bypass}\ndenied_tools: [WebFetch, WebSearch]`,
    [],
    [files],
    ["Bash on this machine"],
  ],
  ["that may read anything", "allowed_tools: [Read]", [], [files], []],
  ["that may read its sources", "allowed_tools: ['Read(./src/**)']", [], [], []],
  ["that may use git", "allowed_tools: ['Bash(git *)']", [], [files], ["Bash on this machine"]],
  [
    "that may fetch one page",
    "allowed_tools: ['WebFetch(domain:a.test)']",
    ["WebFetch"],
    [],
    ["WebFetch"],
  ],
  ["with a webhook", hook, ["the webhook `hook`"], [], []],
  [
    "with a chat",
    'chat: { discord: { token_env: B, users: ["1"] } }',
    ["Discord"],
    [],
    ["its answers in the chat"],
  ],
  [
    "with a work source",
    "work_source: { type: github, repo: a/b, labels: [x] }",
    ["issues of a/b"],
    [],
    ["its comments on issues of a/b"],
  ],
  ["with a secret", "env: { DEPLOY_KEY: made-up, LANG: C }", [], ["DEPLOY_KEY"], []],
  ["with a key under another name", "env: { X: '${ANTHROPIC_API_KEY}' }", [], ["X"], []],
  ["with a key inside a value", "env: { X: 'key=${ANTHROPIC_API_KEY};' }", [], ["X"], []],
  ["with a password under another name", "env: { X: '${PGPASSWORD}' }", [], ["X"], []],
  ["with a password in an address", "env: { X: '${DATABASE}' }", [], ["X"], []],
  ["with a password in a literal address", "env: { X: 'http://a:b@c.test' }", [], ["X"], []],
  ["with variables without secrets", "env: { X: '${REGION}', Y: '${MAX_TOKENS}' }", [], [], []],
  [
    "with a key in its prompt",
    "system_prompt: 'Use ${ANTHROPIC_API_KEY}'",
    [],
    ["system_prompt"],
    [],
  ],
  [
    "with a key in the prompt of a schedule",
    "schedules: { daily: { type: interval, every: 1d, prompt: 'Use ${ANTHROPIC_API_KEY}' } }",
    [],
    ["the prompt of `daily`"],
    [],
  ],
  ["with a plugin", "plugins: [/srv/plugin]", [], ["the plugin folder /srv/plugin"], []],
  [
    "whose hooks post",
    `hooks: { after_run: [${notificationHooks.webhook}, ${notificationHooks.slack}], on_error: [${notificationHooks.discord}, ${notificationHooks.shell}] }`,
    [],
    [],
    [
      "the webhook hook in `after_run`",
      "the slack hook in `after_run`",
      "the discord hook in `on_error`",
      "the shell hook in `on_error`",
    ],
  ],
  ["with a server that it may not use", server, [], [], []],
  [
    "with a server that has a key under another name",
    `mcp_servers: { shop: { command: npx, args: [shop, '\${ANTHROPIC_API_KEY}'], env: { X: '\${PGPASSWORD}' } } }\nallowed_tools: [mcp__shop__list]`,
    ["the MCP server `shop`"],
    ["X of `shop`", "an argument of `shop`"],
    ["the MCP server `shop`"],
  ],
  [
    "with a remote server that has a key in its address",
    "mcp_servers: { shop: { type: http, url: 'https://shop.test/${ANTHROPIC_API_KEY}', headers: { X: '${PGPASSWORD}' } } }\nallowed_tools: [mcp__shop__list]",
    ["the MCP server `shop`"],
    ["X of `shop`", "the address of `shop`"],
    ["the MCP server `shop`"],
  ],
  [
    "that may read the resources of a server on the host",
    `mcp_servers: { files: { command: npx } }\nallowed_tools: [ReadMcpResourceTool]\n${docker()}`,
    ["the MCP server `files`"],
    ["the resources of `files`"],
    ["the MCP server `files`"],
  ],
  [
    "that may use a server on the host and therefore read its resources",
    `mcp_servers: { files: { command: npx } }\nallowed_tools: [mcp__files__*]\n${docker()}`,
    ["the MCP server `files`"],
    ["the resources of `files`"],
    ["the MCP server `files`"],
  ],
  [
    "that may not read the resources of a server on the host",
    `mcp_servers: { files: { command: npx } }\nallowed_tools: [mcp__files__*]\ndenied_tools: [ReadMcpResourceTool]\n${docker()}`,
    ["the MCP server `files`"],
    [],
    ["the MCP server `files`"],
  ],
  [
    "that may use every tool except reading the resources of a server",
    `mcp_servers: { files: { command: npx } }\nallowed_tools: ["*"]\ndenied_tools: [ReadMcpResourceTool]\n${docker()}`,
    ["the MCP server `files`"],
    [],
    ["the MCP server `files`"],
  ],
  [
    "that may read the resources of a server in its container",
    `mcp_servers: { files: { command: npx, run: container } }\nallowed_tools: [ReadMcpResourceTool]\n${docker()}`,
    ["the MCP server `files`"],
    [],
    ["the MCP server `files`"],
  ],
  [
    "with a server",
    `${server}\nallowed_tools: [mcp__github__get_issue]`,
    ["the MCP server `github`"],
    ["GITHUB_TOKEN of `github`"],
    ["the MCP server `github`"],
  ],
  ["in a container with every tool", `${bypass}\n${docker()}`, [], [], []],
  [
    "in a container with open hosts",
    `${bypass}\n${docker(", egress: [npm]")}`,
    ["`egress` to npm"],
    [],
    ["`egress` to npm"],
  ],
  [
    "in a container with a network",
    `${bypass}\n${docker(", network: bridge")}`,
    ["`network: bridge`"],
    [],
    ["`network: bridge`"],
  ],
  [
    "in a container with web search",
    docker(", api_features: [web_search]"),
    ["`api_features` with web_search"],
    [],
    ["`api_features` with web_search"],
  ],
  [
    "in a container with its credential",
    docker(", auth: env"),
    [],
    ["its credential, with `auth: env`"],
    [],
  ],
  ["in a container with a secret", docker(", env: { NPM_TOKEN: made-up }"), [], ["NPM_TOKEN"], []],
  [
    "in a container with a key under another name",
    docker(", env: { X: '${ANTHROPIC_API_KEY}' }"),
    [],
    ["X"],
    [],
  ],
  [
    "in a container with a plugin",
    `plugins: [/srv/plugin]\n${docker()}`,
    [],
    ["the plugin folder /srv/plugin"],
    [],
  ],
])("classifies an agent %s", (_, yaml, input, secrets, out) => {
  const loaded = loadOneAgent(yaml, variables);
  const agent = agentOf(loaded, "one");
  expect({
    input: findUntrustedInputs(agent, [agent]),
    secrets: findReachableSecrets(agent, [agent], loaded.trees.agents),
    out: findExfiltrationPaths(agent, [agent]),
  }).toEqual({ input, secrets, out });
});

test("counts input, secrets and ways out of other agents along `may_trigger`", () => {
  const { fleet, trees } = loadTestFleet(
    {
      "herdctl.yaml": `version: 1
fleet: { name: test }
defaults: { default_prompt: go }
agents:
  - { name: front, chat: { discord: { token_env: B, users: ["1"] } }, tools: [delegate], may_trigger: [middle] }
  - { name: middle, tools: [delegate], may_trigger: [back, front] }
  - { name: back, allowed_tools: ["WebFetch(domain:a.test)"], env: { X: "\${ANTHROPIC_API_KEY}" } }
  - { name: apart, env: { NPM_TOKEN: made-up } }
`,
    },
    variables,
  );
  const posture = fleet.agents.map((agent) => ({
    name: agent.name,
    input: findUntrustedInputs(agent, fleet.agents),
    secrets: findReachableSecrets(agent, fleet.agents, trees.agents),
    out: findExfiltrationPaths(agent, fleet.agents),
  }));
  expect(posture).toEqual([
    {
      name: "front",
      input: ["Discord"],
      secrets: ["through `back`"],
      out: ["its answers in the chat", "through `back`"],
    },
    {
      name: "middle",
      input: ["through `front`"],
      secrets: ["through `back`"],
      out: ["through `front`", "through `back`"],
    },
    {
      name: "back",
      input: ["WebFetch", "through `front`"],
      secrets: ["X"],
      out: ["WebFetch"],
    },
    { name: "apart", input: [], secrets: ["NPM_TOKEN"], out: [] },
  ]);
});

test.each([
  ["two of the three", `${bypass}\ndenied_tools: [WebFetch, WebSearch]`, "ok", ""],
  ["all three on this machine", `${bypass}\n${hook}`, "warning", "docker: { enabled: true }"],
  [
    "all three in a container",
    `${docker(", egress: [npm], env: { NPM_TOKEN: made-up }")}`,
    "warning",
    "shorten `egress`",
  ],
  [
    "all three through a server",
    `${server}\nallowed_tools: [mcp__github__*]`,
    "warning",
    "read-only tools of MCP servers",
  ],
  [
    "all three through a hook and a key under another name",
    `${docker(", env: { X: '${ANTHROPIC_API_KEY}' }")}\n${hook}\nhooks: { after_run: [${notificationHooks.slack}] }`,
    "warning",
    "Remove `hooks`",
  ],
])("reports %s: %j as %s", (_, yaml, verdict, remedy) => {
  const loaded = loadOneAgent(yaml, variables);
  const agent = agentOf(loaded, "one");
  const found = evaluateRuleOfTwo(agent, [agent], loaded.trees.agents);
  expect(found).toMatchObject({ verdict, agent: "one", place: agent.file });
  expect(found.hint ?? "").toContain(remedy);
});
