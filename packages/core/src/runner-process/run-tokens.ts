import { runTokenOf } from "../runner/run-order.ts";
import { launcherToken } from "../runner/sweep/launcher-token.ts";
import { readClaim } from "./claim.ts";

export interface RunTokens {
  /** Of its launcher, which may have been told just before and not be `claude` yet; then its own. */
  own: string[];
  /** Of the `claude` that was up before its turn. */
  live: string[];
}

/** By what the processes of an attempt are known whose runner is dead, in the order to end them. */
export async function runTokensOf(
  jobDir: string,
  { jobId, attempt }: { jobId: string; attempt: number },
): Promise<RunTokens> {
  const claim = await readClaim(jobDir, attempt);
  const { runner, run } = claim.kind === "found" ? claim.file : {};
  const launcher = runner ? [launcherToken(runner)] : [];
  return {
    own: [...launcher, runTokenOf({ jobId, attempt })],
    live: run?.live ? [run.live.run_token] : [],
  };
}
