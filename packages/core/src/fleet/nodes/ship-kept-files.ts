import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { artifactsDir, keptArtifacts } from "../../state/artifacts.ts";
import type { KeptFileStore } from "../../state/shared.ts";

/** What is larger stays where the job ran. */
const largestShipped = 1024 * 1024;

/** Brings the small files that a job keeps into the store, where other nodes find them. */
export async function shipKeptFiles(
  files: KeptFileStore,
  jobId: string,
  jobDir: string,
): Promise<void> {
  for (const { name, bytes } of await keptArtifacts(jobDir))
    if (bytes <= largestShipped)
      await files.put(jobId, name, await readFile(join(artifactsDir(jobDir), name)));
}
