import { expect, test } from "vitest";
import { judgePosture } from "../../packages/core/src/doctor/posture/rule-of-two.ts";
import { secretsInReach } from "../../packages/core/src/doctor/posture/secrets.ts";
import { untrustedInput } from "../../packages/core/src/doctor/posture/untrusted-input.ts";
import { waysOut } from "../../packages/core/src/doctor/posture/ways-out.ts";
import { agentOf, inlineAgent, load } from "../support/fleet.ts";

const one = (yaml: string) => agentOf(load(inlineAgent(`default_prompt: go\n${yaml}`)), "one");

const bypass = "permission_mode: bypassPermissions";
const hook = "schedules: { hook: { type: webhook, signature: { kind: github, secret_env: S } } }";
const docker = (more = "") => `working_directory: /srv\ndocker: { enabled: true${more} }`;
const files = "every file of this user, such as SSH keys and logins";
const server =
  "mcp_servers: { github: { command: npx, env: { GITHUB_TOKEN: made-up, LOG_LEVEL: info } } }";

test.each([
  ["by itself", "", [], [], []],
  ["that may edit", "permission_mode: acceptEdits", [], [], []],
  [
    "that may do all",
    bypass,
    ["WebFetch", "WebSearch"],
    [files],
    ["Bash on this machine", "WebFetch", "WebSearch"],
  ],
  [
    "that may do all but reach the web",
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
  ["of a webhook", hook, ["the webhook `hook`"], [], []],
  [
    "in a chat",
    'chat: { discord: { token_env: B, users: ["1"] } }',
    ["Discord"],
    [],
    ["its answers in the chat"],
  ],
  [
    "with work",
    "work_source: { type: github, repo: a/b, labels: [x] }",
    ["issues of a/b"],
    [],
    ["its comments on issues of a/b"],
  ],
  ["with a secret", "env: { DEPLOY_KEY: made-up, LANG: C }", [], ["DEPLOY_KEY"], []],
  ["with a server that it may not use", server, [], [], []],
  [
    "with a server",
    `${server}\nallowed_tools: [mcp__github__get_issue]`,
    ["the MCP server `github`"],
    ["GITHUB_TOKEN of `github`"],
    ["the MCP server `github`"],
  ],
  ["in a container that may do all", `${bypass}\n${docker()}`, [], [], []],
  [
    "in a container with hosts",
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
    "in a container that searches",
    docker(", api_reach: [web_search]"),
    ["`api_reach` with web_search"],
    [],
    ["`api_reach` with web_search"],
  ],
  [
    "in a container with its credential",
    docker(", auth: env"),
    [],
    ["its credential, by `auth: env`"],
    [],
  ],
  ["in a container with a secret", docker(", env: { NPM_TOKEN: made-up }"), [], ["NPM_TOKEN"], []],
])("an agent %s", (_, yaml, input, secrets, out) => {
  const agent = one(yaml);
  expect({
    input: untrustedInput(agent, [agent]),
    secrets: secretsInReach(agent),
    out: waysOut(agent),
  }).toEqual({ input, secrets, out });
});

test("what an agent reads reaches those that it may hand work to", () => {
  const { fleet } = load({
    "herdctl.yaml": `version: 1
fleet: { name: test }
defaults: { default_prompt: go }
agents:
  - { name: front, chat: { discord: { token_env: B, users: ["1"] } }, tools: [delegate], may_trigger: [back] }
  - { name: back }
`,
  });
  const [front, back] = fleet.agents;
  if (!front || !back) return expect.fail("there are two agents");
  expect(untrustedInput(back, fleet.agents)).toEqual(["what `front` hands on"]);
  expect(untrustedInput(front, fleet.agents)).toEqual(["Discord"]);
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
    "all three by a server",
    `${server}\nallowed_tools: [mcp__github__*]`,
    "warning",
    "Of MCP servers",
  ],
])("%s: %j is %s", (_, yaml, verdict, remedy) => {
  const agent = one(yaml);
  const found = judgePosture(agent, [agent]);
  expect(found).toMatchObject({ verdict, agent: "one", place: agent.file });
  expect(found.hint ?? "").toContain(remedy);
});
