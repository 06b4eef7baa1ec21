import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { completeAgent } from "@herdctl/config";
import { expect, test } from "vitest";
import { buildSettingsSchema, settingsSchemaOf } from "../../scripts/claude-settings-schema.mjs";
import { agentOf, configProblems, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const complete = `settings:
  outputStyle: default
  somethingNew: { x: 1 }
  permissions: { deny: ["Bash(curl:*)"], ask: [WebFetch] }
  hooks: { PreToolUse: [{ matcher: Bash, hooks: [{ type: command, command: guard }] }] }
claude_hooks: { Stop: [{ hooks: [{ type: http, url: "http://127.0.0.1:1/x" }] }] }
policy: { disableAllHooks: true, permissions: { deny: [WebFetch] } }
sandbox: { network: { allowed_domains: ["*.npmjs.org"] } }
`;

test("accepts settings, hooks, a policy and a sandbox that is closed by default", () => {
  const agent = agentOf(loadTestFleet(inlineAgent(complete)), "one");
  expect(agent.sandbox).toMatchObject({
    enabled: true,
    fail_if_unavailable: true,
    allow_unsandboxed: false,
    network: { strict: true, allowed_domains: ["*.npmjs.org"] },
  });
  expect(completeAgent(agent)).toEqual(agent);
});

const wrongFields: [yaml: string, position: string, message: RegExp, hint: RegExp][] = [
  ["settings: { cleanupPeriodDays: x }", "5:17", /herdctl keeps transcripts/, /fleet.retention/],
  ["settings: { outputStyle: 5 }", "5:30", /5 is not a text/, /Write a text/],
  ["settings: { env: { A: 1 } }", "5:27", /1 is not a text/, /Write/],
  ["settings: { permissions: { deny: Bash } }", "5:38", /is not a list/, /Write a list/],
  ["settings: { sandbox: { enabled: true } }", "5:17", /`sandbox` cannot be set/, /`sandbox` of/],
  ["settings: { apiKeyHelper: x }", "5:17", /credential outside/, /`credential`/],
  ["settings: { enableAllProjectMcpServers: true }", "5:17", /could start programs/, /mcp_servers/],
  [
    "settings: { env: { ANTHROPIC_BASE_URL: x } }",
    "5:24",
    /sets this variable itself/,
    /Remove it/,
  ],
  [
    "settings: { permissions: { defaultMode: plan } }",
    "5:32",
    /passes the mode/,
    /permission_mode/,
  ],
  ["policy: { disableAllHooks: x }", "5:32", /not true or false/, /Write true/],
  ["claude_hooks: { PreTooluse: [] }", "5:", /no hook event `PreTooluse`/, /`PreToolUse`/],
  ["claude_hooks: { Stop: [{ hooks: [{ type: command }] }] }", "5:", /`command` is missing/, /Add/],
  ["sandbox: { network: { alowed_domains: [] } }", "5:", /unknown key/, /`allowed_domains`/],
  ["docker: { enabled: true }\nsandbox: {}", "6:", /cannot set up its sandbox/, /docker.network/],
  ["settings: nowhere.json", "5:15", /cannot be read/, /path of a JSON file/],
];

test.each(wrongFields)("refuses `%s` with its position", (yaml, position, message, hint) => {
  const problem = configProblems(inlineAgent(yaml)).find((one) => message.test(one.message));
  expect(`${problem?.line}:${problem?.column}`).toContain(position);
  expect(problem?.hint).toMatch(hint);
});

test("reads settings from a file, watches it, and reports the positions of its mistakes", () => {
  const files = inlineAgent("settings: claude.json\npolicy: policy.json");
  const loaded = loadTestFleet({
    ...files,
    "claude.json": '{ "language": "german" }',
    "policy.json": '{ "permissions": { "deny": ["WebFetch"] } }',
  });
  expect(agentOf(loaded, "one")).toMatchObject({
    settings: { language: "german" },
    policy: { permissions: { deny: ["WebFetch"] } },
  });
  expect(loaded.files.map((file) => basename(file))).toContain("claude.json");
  const wrong = { "claude.json": '{\n  "env": { "CLAUDE_CONFIG_DIR": "x" },\n  "language": 5\n}' };
  const found = configProblems({ ...files, ...wrong, "policy.json": "{}" });
  expect(found.map(({ file, line, path }) => [basename(file), line, path])).toEqual([
    ["claude.json", 2, "env.CLAUDE_CONFIG_DIR"],
    ["claude.json", 3, "language"],
  ]);
});

test("checks the settings of an agent that a program passes, also from a file", () => {
  const folder = tempFolderWith({ "s.json": '{ "language": "german" }', "bad.json": '{"env": 5}' });
  const file = join(folder, "s.json");
  expect(completeAgent({ name: "one", settings: file }).settings).toEqual({ language: "german" });
  for (const settings of [join(folder, "bad.json"), { apiKeyHelper: "x" }])
    expect(() => completeAgent({ name: "one", settings })).toThrow(/env|apiKeyHelper/);
  expect(() => completeAgent({ name: "one", claude_hooks: { Nope: [] } })).toThrow(/hooks/);
});

test("has the types of settings that the installed Agent SDK declares", () => {
  const file = "../../packages/config/src/claude-settings/settings-schema.json";
  const stored: unknown = JSON.parse(readFileSync(join(import.meta.dirname, file), "utf8"));
  expect(stored, "run `node scripts/claude-settings-schema.mjs`").toEqual(buildSettingsSchema());
  const changed = settingsSchemaOf("export declare interface Settings { added?: 'a' | 'b'; }");
  expect(changed).toEqual({ type: "object", properties: { added: { enum: ["a", "b"] } } });
});
