import { tmpdir } from "node:os";
import { withinTime } from "../../runner/within-time.ts";
import { runGit } from "../../runner/workspace-git.ts";
import { type Finding, failed, ok, warning } from "../check.ts";

const patience = 10_000;

export async function checkGit(cloning: readonly string[], signal: AbortSignal): Promise<Finding> {
  return judgeGit(await gitVersion(signal), cloning);
}

/** Only agents with a clone of their own need it. */
export function judgeGit(version: string | undefined, cloning: readonly string[]): Finding {
  if (version !== undefined) return ok("git", `git ${version}.`);
  const hint = "Install git, for example with `apt install git` or `brew install git`.";
  if (cloning.length === 0) return warning("git", "There is no git on the PATH.", hint);
  const who = cloning.join(", ");
  return failed("git", `There is no git on the PATH, which clones the workspace of ${who}.`, hint);
}

async function gitVersion(signal: AbortSignal): Promise<string | undefined> {
  try {
    const { stdout } = await withinTime(signal, patience, (limit) =>
      runGit(["--version"], tmpdir(), limit),
    );
    return /^git version (\S+)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}
