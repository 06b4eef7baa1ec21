import { type Rehearsal, type RehearsalOptions, startRehearsal } from "@herdctl/rehearsal";
import { onTestFinished } from "vitest";
import {
  type ClaudeOptions,
  type ClaudeRun,
  type ClaudeVersion,
  createIsolatedEnvironment,
  type IsolatedEnvironment,
  runClaude,
} from "./claude-binaries.ts";
import { killLeftoversIfFailed } from "./cleanup-after-failure.ts";
import type { RegisterCleanup } from "./temp-folder.ts";

export interface TestHarness extends IsolatedEnvironment {
  rehearsal: Rehearsal;
  claude(
    version: ClaudeVersion,
    args: string[],
    options?: Partial<ClaudeOptions>,
  ): Promise<ClaudeRun>;
}

/**
 * A rehearsal and an environment that points to it, both removed at the end of the test. Concurrent
 * tests must pass the hook of their test context.
 */
export async function startHarness(
  options: RehearsalOptions = {},
  onCleanup: RegisterCleanup = onTestFinished,
): Promise<TestHarness> {
  const rehearsal = await startRehearsal(options);
  const isolated = createIsolatedEnvironment(rehearsal.env());
  onCleanup(async (result) => {
    await killLeftoversIfFailed(result, isolated.root);
    await rehearsal.stop();
    isolated.dispose();
  });
  const claude: TestHarness["claude"] = (version, args, more) =>
    runClaude(args, { version, env: isolated.env, cwd: isolated.workspace, ...more });
  return { ...isolated, rehearsal, claude };
}
