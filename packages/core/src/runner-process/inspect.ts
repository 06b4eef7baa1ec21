import { isAlive, type ProcessIdentity } from "../state/process-identity.ts";
import { claimAttempt, readClaim } from "./claim.ts";
import type { RunnerFile } from "./contract.ts";

export type RunnerState =
  | { kind: "alive"; identity: ProcessIdentity; file: RunnerFile }
  /** And never will: the attempt is void from now on. */
  | { kind: "never_started" }
  | { kind: "dead" };

/** What became of the runner that an attempt was given to, maybe by a fleet before this one. */
export async function inspectRunner(jobDir: string, attempt: number): Promise<RunnerState> {
  const claim = await readClaim(jobDir, attempt);
  if (claim.kind === "none") {
    if (claimAttempt(jobDir, voidFile(attempt))) return { kind: "never_started" };
    return inspectRunner(jobDir, attempt);
  }
  if (claim.kind === "damaged") return { kind: "dead" };
  const { file } = claim;
  if (file.void) return { kind: "never_started" };
  const { runner } = file;
  return runner && isAlive(runner) ? { kind: "alive", identity: runner, file } : { kind: "dead" };
}

function voidFile(attempt: number): RunnerFile {
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
