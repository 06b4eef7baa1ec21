import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SpawnCommand } from "../../packages/core/src/runner/runtime/spawn.ts";
import { spawnOnHost } from "../../packages/core/src/runner/runtime/spawn.ts";
import { initOf, obedientStage, obey, perform, type RuntimeUnderTest } from "../support/runtime.ts";
import { stage } from "../support/stage.ts";

/** A hook whose program is missing, before any use of Bash. */
const brokenGuard = {
  hooks: {
    PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "/nowhere/guard" }] }],
  },
};

/** What `--settings` says on its way to the program: a number becomes a text. */
function spawnWithWrongValue(options: SpawnCommand) {
  return spawnOnHost({ ...options, args: options.args.map((arg) => arg.replace("36500", '"x"')) });
}

/** How every runtime gives Claude Code its settings. */
export function settingsConformance(runtime: RuntimeUnderTest): void {
  test("a run whose settings Claude Code drops is not begun", async () => {
    const on = await stage();
    const run = perform(runtime, on, { options: { spawn: spawnWithWrongValue } });
    await expect(run).rejects.toMatchObject({
      code: "settings_rejected",
      message: expect.stringContaining("cleanupPeriodDays: Expected number"),
    });
    expect(on.rehearsal.ledger.main).toEqual([]);
  });

  test("a hook whose program is missing keeps its tool from running", async () => {
    const on = await obedientStage();
    const prompt = obey(["Bash", { command: "touch made" }]);
    const run = perform(runtime, on, { prompt, options: { settings: brokenGuard } });
    // 2.1.197 does not know `onFailure` and drops it, so the run is not begun at all.
    if (runtime.version === "197")
      await expect(run).rejects.toMatchObject({ code: "settings_rejected" });
    else await run;
    expect(existsSync(join(on.workspace, "made"))).toBe(false);
  });

  test("a session cannot wake itself up", async () => {
    const on = await stage();
    const { messages } = await perform(runtime, on);
    const seen = [initOf(messages)?.tools, on.rehearsal.ledger.main[0]?.body];
    expect(JSON.stringify(seen)).not.toMatch(/CronCreate|ScheduleWakeup/);
  });
}
