import { createReadStream } from "node:fs";
import { join } from "node:path";
import { UserError } from "../errors/user-error.ts";
import { type Artifact, artifactsDir, keptArtifacts } from "../state/artifacts.ts";
import type { StateManager } from "../state/state-manager.ts";

/** Files that a job keeps, also while it is at work. */
export async function artifactsOf(state: StateManager, jobId: string): Promise<Artifact[]> {
  if (!(await state.jobs.get(jobId)))
    throw new UserError("job_not_found", `there is no job ${jobId}`);
  return keptArtifacts(state.jobDir(jobId));
}

/** Undefined when the job keeps no such file. Only what stands in the list is ever opened. */
export async function artifactOf(
  state: StateManager,
  jobId: string,
  name: string,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const found = (await artifactsOf(state, jobId)).find((one) => one.name === name);
  return found && createReadStream(join(artifactsDir(state.jobDir(jobId)), found.name));
}
