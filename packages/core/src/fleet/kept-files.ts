import { createReadStream } from "node:fs";
import { join } from "node:path";
import { UserError } from "../errors/user-error.ts";
import { type Artifact, artifactsDir, keptArtifacts } from "../state/artifacts.ts";
import type { Job } from "../state/job.ts";
import type { StateManager } from "../state/state-manager.ts";
import { ranElsewhere } from "./nodes/read-log.ts";

/** Files that a job keeps, also while it is at work; on another node, when it is over. */
export async function artifactsOf(state: StateManager, jobId: string): Promise<Artifact[]> {
  return listOf(state, await expectJob(state, jobId));
}

/** Undefined when the job keeps no such file. Only what stands in the list is ever opened. */
export async function artifactOf(
  state: StateManager,
  jobId: string,
  name: string,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const job = await expectJob(state, jobId);
  const found = (await listOf(state, job)).find((one) => one.name === name);
  if (!found) return undefined;
  if (ranElsewhere(state, job)) return fromStore(state, job, found);
  return createReadStream(join(artifactsDir(state.jobDir(jobId)), found.name));
}

async function expectJob(state: StateManager, jobId: string): Promise<Job> {
  const job = await state.jobs.get(jobId);
  if (!job) throw new UserError("job_not_found", `there is no job ${jobId}`);
  return job;
}

async function listOf(state: StateManager, job: Job): Promise<Artifact[]> {
  return ranElsewhere(state, job) ? job.artifacts : keptArtifacts(state.jobDir(job.id));
}

/** Small ones are brought over; large ones are not. */
async function fromStore(
  { shared }: StateManager,
  { id, node }: Job,
  { name, bytes }: Artifact,
): Promise<AsyncIterable<Uint8Array>> {
  const content = await shared?.files.get(id, name);
  if (content) return only(content);
  const nodes = (await shared?.nodes.list()) ?? [];
  const where = nodes.find((one) => one.id === node)?.name ?? node;
  const message = `\`${name}\` (${bytes} bytes) of ${id} is on node ${where} and was not brought over`;
  throw new UserError("file_unreadable", message, {
    hint: `Ask for it on node ${where}: \`herdctl artifacts ${id}\`.`,
  });
}

async function* only(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}
