import { createReadStream } from "node:fs";
import { join } from "node:path";
import { type Artifact, type Job, UserError } from "@herdctl/protocol";
import { ranOnOtherNode } from "../../cluster/shipped-output.ts";
import { artifactsDir, listArtifacts } from "../../store/files/artifacts.ts";
import type { StateManager } from "../../store/state-manager.ts";

/**
 * Files that a job keeps, also while it runs. For a job on another node they are available when it
 * is finished.
 */
export async function listJobArtifacts(state: StateManager, jobId: string): Promise<Artifact[]> {
  return listArtifactsOfJob(state, await getJobOrThrow(state, jobId));
}

/** Undefined if the job keeps no such file. Only listed files are opened. */
export async function openJobArtifact(
  state: StateManager,
  jobId: string,
  name: string,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const job = await getJobOrThrow(state, jobId);
  const found = (await listArtifactsOfJob(state, job)).find((artifact) => artifact.name === name);
  if (!found) return undefined;
  if (ranOnOtherNode(state, job)) return readFromStore(state, job, found);
  return createReadStream(join(artifactsDir(state.jobDir(jobId)), found.name));
}

async function getJobOrThrow(state: StateManager, jobId: string): Promise<Job> {
  const job = await state.jobs.get(jobId);
  if (!job) throw new UserError("job_not_found", `there is no job ${jobId}`);
  return job;
}

async function listArtifactsOfJob(state: StateManager, job: Job): Promise<Artifact[]> {
  return ranOnOtherNode(state, job) ? job.artifacts : listArtifacts(state.jobDir(job.id));
}

/** Small files are copied to the shared store, large ones are not. */
async function readFromStore(
  { shared }: StateManager,
  { id, node }: Job,
  { name, bytes }: Artifact,
): Promise<AsyncIterable<Uint8Array>> {
  const content = await shared?.files.get(id, name);
  if (content) return singleChunk(content);
  const nodes = (await shared?.nodes.list()) ?? [];
  const nodeName = nodes.find(({ id }) => id === node)?.name ?? node;
  const message = `\`${name}\` (${bytes} bytes) of ${id} is on node ${nodeName} and was not copied to the store`;
  throw new UserError("file_unreadable", message, {
    hint: `Ask for it on node ${nodeName}, or copy it from there.`,
  });
}

async function* singleChunk(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}
