import { HOOK_EVENTS } from "@anthropic-ai/claude-agent-sdk";
import { expect, test } from "vitest";
import { buildSettings } from "../../packages/core/src/runner/runtimes/claude-settings.ts";
import { hookEvents } from "../../packages/core/src/runner/runtimes/hook-events.ts";

const command = { type: "command", command: "guard" };
const before = (...hooks: object[]) => ({ hooks: { PreToolUse: [{ matcher: "Bash", hooks }] } });

test("merges settings into one object: joins lists, merges objects and prefers the fleet's values", () => {
  const env = { CLAUDE_CODE_DISABLE_CRON: "1", OTHER: "x" };
  const settings = {
    cleanupPeriodDays: 1,
    env: { CLAUDE_CODE_DISABLE_CRON: "0", MINE: "y" },
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
  const { hooks } = buildSettings({ env: {}, settings });
  expect(hooks?.PreToolUse?.[0]?.hooks).toMatchObject([
    { onFailure: "block" },
    { onFailure: "continue" },
  ]);
});

test.each([
  ["a wrong type", { cleanupPeriodDays: "x" }, /`cleanupPeriodDays`/],
  ["a value that is not a list", { permissions: { deny: "Bash" } }, /`permissions.deny`/],
  ["an unknown mode", { permissions: { defaultMode: "nope" } }, /`permissions.defaultMode`/],
  ["an unknown event", { hooks: { Nope: [] } }, /`hooks/],
  ["a hook without its command", before({ type: "command" }), /hooks.0.command`/],
])("refuses %s in the settings before the start", (_, settings, message) => {
  expect(() => buildSettings({ env: {}, settings })).toThrow(message);
});

test("lists the same hook events as the SDK", () => {
  expect([...hookEvents]).toEqual([...HOOK_EVENTS]);
});
