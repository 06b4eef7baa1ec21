import { type Rehearsal, type RehearsalOptions, startRehearsal } from "@herdctl/rehearsal";
import { onTestFinished } from "vitest";
import {
  type ClaudeOptions,
  type ClaudeRun,
  type ClaudeVersion,
  type OwnEnvironment,
  ownEnvironment,
  runClaude,
} from "./claude.ts";
import type { WhenOver } from "./folder.ts";
import { endIfFailed } from "./leftovers.ts";

export interface Stage extends OwnEnvironment {
  rehearsal: Rehearsal;
  claude(
    version: ClaudeVersion,
    args: string[],
    options?: Partial<ClaudeOptions>,
  ): Promise<ClaudeRun>;
}

/**
 * A rehearsal and an environment pointed at it, both taken down when the test is over. Concurrent
 * tests must pass the hook of their own context.
 */
export async function stage(
  options: RehearsalOptions = {},
  whenOver: WhenOver = onTestFinished,
): Promise<Stage> {
  const rehearsal = await startRehearsal(options);
  const own = ownEnvironment(rehearsal.env());
  whenOver(async (over) => {
    await endIfFailed(over, own.root);
    await rehearsal.stop();
    own.dispose();
  });
  const claude: Stage["claude"] = (version, args, more) =>
    runClaude(args, { version, env: own.env, cwd: own.workspace, ...more });
  return { ...own, rehearsal, claude };
}
