import { existsSync, readFileSync, writeFileSync } from "node:fs";
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
} from "../support/runtimes-under-test.ts";

/** A hook before every use of Bash whose program is missing. */
const brokenHookSettings = {
  hooks: {
    PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "/nowhere/guard" }] }],
  },
};

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

  test("prevents a session from waking itself up", async () => {
    const harness = await startHarness();
    const { messages } = await executeOnRuntime(runtime, harness);
    const seen = [initOf(messages)?.tools, harness.rehearsal.ledger.main[0]?.body];
    expect(JSON.stringify(seen)).not.toMatch(/CronCreate|ScheduleWakeup/);
  });
}
