import type { ProcessIdentity } from "@herdctl/protocol";
import { isAlive } from "../../lib/process-identity.ts";
import { claimAttempt, readClaim } from "../contract/claim-file.ts";
import type { RunnerClaim } from "../contract/messages.ts";

export type RunnerState =
  | { kind: "alive"; identity: ProcessIdentity; file: RunnerClaim }
  /** And never will start: the attempt is now void. */
  | { kind: "never_started" }
  | { kind: "dead" };

/** The state of an attempt's runner, which an earlier fleet process may have started. */
export async function inspectRunner(jobDir: string, attempt: number): Promise<RunnerState> {
  const claim = await readClaim(jobDir, attempt);
  if (claim.kind === "none") {
    if (claimAttempt(jobDir, createVoidClaim(attempt))) return { kind: "never_started" };
    return inspectRunner(jobDir, attempt);
  }
  if (claim.kind === "damaged") return { kind: "dead" };
  const { file } = claim;
  if (file.void) return { kind: "never_started" };
  const { runner } = file;
  return runner && isAlive(runner) ? { kind: "alive", identity: runner, file } : { kind: "dead" };
}

function createVoidClaim(attempt: number): RunnerClaim {
  const started_at = new Date().toISOString();
  return {
    version: 1,
    attempt,
    runner: null,
    void: true,
    session_id: null,
    started_at,
    run: null,
  };
}
