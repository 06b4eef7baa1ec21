import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SpawnCommand } from "../../packages/core/src/runner/runtimes/spawn-claude.ts";
import { spawnOnHost } from "../../packages/core/src/runner/runtimes/spawn-claude.ts";
import { startHarness } from "../support/harness.ts";
import {
  executeOnRuntime,
  initOf,
  type RuntimeUnderTest,
  startObedientHarness,
  toolCallPrompt,
  toolResultTexts,
} from "../support/runtimes-under-test.ts";

/** A hook before every use of Bash whose program is missing. */
const brokenHookSettings = {
  hooks: {
    PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "/nowhere/guard" }] }],
  },
};

/** A hook in `settings`, one in `claude_hooks`, a deny rule and a policy; the mode asks nothing. */
function settingsAgent(log: string): string {
  const guard = 'grep -q blocked-by-hook && { echo "the hook says no" >&2; exit 2; } || true';
  const hookOf = (command: string) => [{ matcher: "Bash", hooks: [{ type: "command", command }] }];
  const settings = {
    permissions: { deny: ["Bash(touch denied-by-rule)"] },
    hooks: { PreToolUse: hookOf(guard) },
  };
  const hooks = { PreToolUse: hookOf(`echo hook of claude_hooks >> ${log}`) };
  const policy = { permissions: { deny: ["Bash(touch denied-by-policy)"] } };
  return [
    "permission_mode: bypassPermissions",
    `settings: ${JSON.stringify(settings)}`,
    `claude_hooks: ${JSON.stringify(hooks)}`,
    `policy: ${JSON.stringify(policy)}`,
  ].join("\n");
}

/** Replaces a number in the settings file by a string before the program reads it. */
function spawnWithWrongValue(options: SpawnCommand) {
  const { file = "" } = /--settings[= ](?<file>\S+)/.exec(options.args.join(" "))?.groups ?? {};
  writeFileSync(file, readFileSync(file, "utf8").replace("36500", '"x"'));
  return spawnOnHost(options);
}

/** How every runtime must pass settings to Claude Code. */
export function describeSettingsConformance(runtime: RuntimeUnderTest): void {
  test("does not start a run whose settings Claude Code drops", async () => {
    const harness = await startHarness();
    const run = executeOnRuntime(runtime, harness, { options: { spawn: spawnWithWrongValue } });
    await expect(run).rejects.toMatchObject({
      code: "settings_rejected",
      message: expect.stringContaining("cleanupPeriodDays: Expected number"),
    });
    expect(harness.rehearsal.ledger.main).toEqual([]);
  });

  test("blocks a tool when the program of its hook is missing", async () => {
    const harness = await startObedientHarness();
    const prompt = toolCallPrompt(["Bash", { command: "touch made" }]);
    const run = executeOnRuntime(runtime, harness, {
      prompt,
      options: { settings: brokenHookSettings },
    });
    // 2.1.197 does not know `onListenerError` and drops it, so the run does not start.
    if (runtime.version === "197")
      await expect(run).rejects.toMatchObject({ code: "settings_rejected" });
    else await run;
    expect(existsSync(join(harness.workspace, "made"))).toBe(false);
  });

  test("applies settings, hooks and a policy of the agent", async () => {
    const harness = await startObedientHarness();
    const log = join(harness.workspace, "hooked");
    const run = executeOnRuntime(runtime, harness, {
      agent: settingsAgent(log),
      prompt: toolCallPrompt(
        ["Bash", { command: "touch blocked-by-hook" }],
        ["Bash", { command: "touch denied-by-rule" }],
        ["Bash", { command: "touch denied-by-policy" }],
        ["Bash", { command: "touch allowed" }],
      ),
    });
    // 2.1.197 drops the policy or does not report it, so the run does not start.
    if (runtime.version === "197") return expect(run).rejects.toThrow();
    const { messages } = await run;
    const files = readdirSync(harness.workspace).filter((name) => !name.startsWith("."));
    expect(files.sort()).toEqual(["allowed", "hooked"]);
    expect(readFileSync(log, "utf8")).toContain("hook of claude_hooks");
    expect(toolResultTexts(messages).join()).toContain("the hook says no");
  });

  test("prevents a session from waking itself up", async () => {
    const harness = await startHarness();
    const { messages } = await executeOnRuntime(runtime, harness);
    const seen = [initOf(messages)?.tools, harness.rehearsal.ledger.main[0]?.body];
    expect(JSON.stringify(seen)).not.toMatch(/CronCreate|ScheduleWakeup/);
  });
}
