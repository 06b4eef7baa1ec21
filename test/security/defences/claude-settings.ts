import type { Defence } from "../defence.ts";

const configTest = "test/config/claude-settings.test.ts";
const settingsTest = "test/runtimes/claude-settings.test.ts";
const closedSandbox = "adds the hooks and the sandbox of the agent to its settings";

export const settingsDefences: readonly Defence[] = [
  {
    name: "settings cannot set what herdctl sets",
    protects: "the gateway and the run's marker, against `env` in the agent's settings",
    mark: "reserved-variables-in-settings",
    without: "",
    failingTest: {
      file: configTest,
      test: "refuses `settings: { env: { ANTHROPIC_BASE_URL: x } }` with its position",
    },
  },
  {
    name: "a program's settings are checked as well",
    protects: "a program that passes settings without checking them",
    mark: "owned-settings",
    without: "$0.slice(0, 0)",
    failingTest: { file: settingsTest, test: "refuses a reserved variable in the settings" },
  },
  {
    name: "a hook that cannot run blocks",
    protects: "the operator's guard, against a program that was removed",
    mark: "hooks-fail-closed",
    without: "$2",
    failingTest: { file: settingsTest, test: "makes a hook that cannot run block" },
  },
  {
    name: "a run whose policy was dropped is not started",
    protects: "the operator's policy, against one value that Claude Code does not accept",
    mark: "dropped-policy",
    without: "",
    failingTest: { file: settingsTest, test: "refuses a run whose claude dropped a policy" },
  },
  {
    name: "no run without the sandbox",
    protects: "the host, against commands on a machine without bubblewrap",
    mark: "sandbox-fails-closed",
    without: "failIfUnavailable: false",
    failingTest: { file: settingsTest, test: closedSandbox },
  },
  {
    name: "no command outside the sandbox",
    protects: "the host, against a model that turns the sandbox off for a command",
    mark: "no-unsandboxed-commands",
    without: "true",
    failingTest: { file: settingsTest, test: closedSandbox },
  },
  {
    name: "the sandbox refuses unknown hosts",
    protects: "data, against commands that send it away",
    mark: "strict-sandbox-hosts",
    without: "false",
    failingTest: { file: settingsTest, test: closedSandbox },
  },
  {
    name: "an MCP server names only web pages",
    protects: "the approver, against links to files and programs",
    mark: "elicitation-url",
    without: "true",
    failingTest: {
      file: "test/runner/elicitation.test.ts",
      test: "answers an MCP server: a page that is no web address",
    },
  },
];
