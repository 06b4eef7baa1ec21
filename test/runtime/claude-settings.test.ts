import { HOOK_EVENTS } from "@anthropic-ai/claude-agent-sdk";
import { expect, test } from "vitest";
import { settingsOf } from "../../packages/core/src/runner/runtime/claude-settings.ts";
import { hookEvents } from "../../packages/core/src/runner/runtime/hook-events.ts";

const command = { type: "command", command: "guard" };
const before = (...hooks: object[]) => ({ hooks: { PreToolUse: [{ matcher: "Bash", hooks }] } });

test("settings are one object: lists joined, objects merged, and ours win", () => {
  const env = { CLAUDE_CODE_DISABLE_CRON: "1", OTHER: "x" };
  const settings = {
    cleanupPeriodDays: 1,
    env: { CLAUDE_CODE_DISABLE_CRON: "0", MINE: "y" },
    permissions: { deny: ["Bash(curl:*)"] },
    somethingNew: true,
  };
  expect(settingsOf({ env, settings })).toEqual({
    cleanupPeriodDays: 36_500,
    env: { CLAUDE_CODE_DISABLE_CRON: "1", MINE: "y" },
    permissions: { deny: ["Bash(curl:*)"] },
    somethingNew: true,
  });
});

test("a hook blocks when it cannot run, unless it says otherwise", () => {
  const settings = before(command, { ...command, onFailure: "continue" });
  const { hooks } = settingsOf({ env: {}, settings });
  expect(hooks?.PreToolUse?.[0]?.hooks).toMatchObject([
    { onFailure: "block" },
    { onFailure: "continue" },
  ]);
});

test.each([
  ["a wrong type", { cleanupPeriodDays: "x" }, /`cleanupPeriodDays`/],
  ["a list that is none", { permissions: { deny: "Bash" } }, /`permissions.deny`/],
  ["an unknown mode", { permissions: { defaultMode: "nope" } }, /`permissions.defaultMode`/],
  ["an unknown event", { hooks: { Nope: [] } }, /`hooks/],
  ["a hook without its command", before({ type: "command" }), /hooks.0.command`/],
])("%s in the settings is refused before the start", (_, settings, message) => {
  expect(() => settingsOf({ env: {}, settings })).toThrow(message);
});

test("the hook events are those of the SDK", () => {
  expect([...hookEvents]).toEqual([...HOOK_EVENTS]);
});
