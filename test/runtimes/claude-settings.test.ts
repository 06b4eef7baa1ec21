import { HOOK_EVENTS } from "@anthropic-ai/claude-agent-sdk";
import { completeAgent } from "@herdctl/config";
import { expect, test } from "vitest";
import { hookEvents } from "../../packages/config/src/claude-settings/hook-events.ts";
import { assertSettingsApplied } from "../../packages/core/src/runner/runtimes/applied-settings.ts";
import { buildSettings } from "../../packages/core/src/runner/runtimes/build-settings.ts";

const command = { type: "command", command: "guard" };
const before = (...hooks: object[]) => ({ hooks: { PreToolUse: [{ matcher: "Bash", hooks }] } });

test("merges settings into one object: joins lists, merges objects and prefers the fleet's values", () => {
  const env = { CLAUDE_CODE_DISABLE_CRON: "1", OTHER: "x" };
  const settings = {
    env: { MINE: "y" },
    permissions: { deny: ["Bash(curl:*)"] },
    somethingNew: true,
  };
  expect(buildSettings({ env, settings })).toEqual({
    cleanupPeriodDays: 36_500,
    env: { CLAUDE_CODE_DISABLE_CRON: "1", MINE: "y" },
    permissions: { deny: ["Bash(curl:*)"] },
    somethingNew: true,
  });
});

test("makes a hook that cannot run block unless it says otherwise", () => {
  const settings = before(command, { ...command, onFailure: "continue" });
  expect(buildSettings({ env: {}, settings }).hooks).toMatchObject({
    PreToolUse: [{ hooks: [{ onFailure: "block" }, { onFailure: "continue" }] }],
  });
});

test("adds the hooks and the sandbox of the agent to its settings", () => {
  const agent = completeAgent({
    name: "one",
    settings: before(command),
    claude_hooks: before({ type: "http", url: "http://127.0.0.1:1/x" }).hooks,
    sandbox: {
      network: { allowed_domains: ["a.example"] },
      filesystem: { deny_read: ["~/.ssh"] },
      credentials: { env_vars: ["TOKEN"] },
      excluded_commands: ["docker *"],
    },
  });
  expect(buildSettings({ env: {}, agent })).toEqual({
    cleanupPeriodDays: 36_500,
    env: {},
    hooks: {
      PreToolUse: [
        { matcher: "Bash", hooks: [{ ...command, onFailure: "block" }] },
        {
          matcher: "Bash",
          hooks: [{ type: "http", url: "http://127.0.0.1:1/x", onFailure: "block" }],
        },
      ],
    },
    sandbox: {
      enabled: true,
      failIfUnavailable: true,
      allowUnsandboxedCommands: false,
      autoAllowBashIfSandboxed: false,
      excludedCommands: ["docker *"],
      network: { allowedDomains: ["a.example"], strictAllowlist: true },
      filesystem: { denyRead: ["~/.ssh"] },
      credentials: { envVars: [{ name: "TOKEN", mode: "deny" }] },
    },
  });
});

const report = (...sources: [string, object][]) => ({
  sources: sources.map(([source, settings]) => ({ source, settings })),
});

test.each([
  ["a setting", { settings: { language: "x" } }, report(), /`language`/],
  [
    "a value",
    { settings: { language: "x" } },
    report(["flagSettings", { language: "y" }]),
    /`lang/,
  ],
  [
    "a policy",
    { settings: {}, policy: { model: "x" } },
    report(["policySettings", {}]),
    /`policy.m/,
  ],
  ["an unconfirmed policy", { settings: {}, policy: { model: "x" } }, {}, /does not report/],
])("refuses a run whose claude dropped %s", async (_, requested, answer, message) => {
  const readSettings = async () => answer;
  await expect(assertSettingsApplied({ ...requested, readSettings }, {})).rejects.toThrow(message);
});

test("accepts the form in which claude binds a policy without hooks", async () => {
  const answer = report(["policySettings", { allowManagedHooksOnly: true }]);
  const requested = { settings: {}, policy: { disableAllHooks: true } };
  await assertSettingsApplied({ ...requested, readSettings: async () => answer }, {});
});

test.each([
  ["a wrong type", { language: 5 }, /`language`/],
  ["a value that is not a list", { permissions: { deny: "Bash" } }, /`permissions.deny`/],
  ["a reserved variable", { env: { ANTHROPIC_BASE_URL: "x" } }, /herdctl sets this variable/],
  ["an unknown event", { hooks: { Nope: [] } }, /`hooks/],
  ["a hook without its command", before({ type: "command" }), /hooks.0.command`/],
  ["a text instead of settings", "x", /invalid Claude Code settings/],
])("refuses %s in the settings before the start", (_, settings, message) => {
  expect(() => buildSettings({ env: {}, settings })).toThrow(message);
});

test("lists the same hook events as the SDK", () => {
  expect([...hookEvents]).toEqual([...HOOK_EVENTS]);
});
