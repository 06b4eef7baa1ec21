import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

/** A file that an agent keeps with its job. */
export const artifactSchema = z.object({
  name: z.string(),
  bytes: z.number().int().nonnegative(),
  kept_at: z.iso.datetime(),
});
export type Artifact = z.infer<typeof artifactSchema>;

export function artifactsDir(jobDir: string): string {
  return join(jobDir, "artifacts");
}

const namePattern = /^[\p{L}\p{N}][\p{L}\p{N}._ ()+-]*$/u;
const longestName = 120;

/** A name and never a path; what begins with a dot is a draft. */
export function isArtifactName(name: string): boolean {
  return namePattern.test(name) && Buffer.byteLength(name) <= longestName;
}

/** The folder is the list: a file is in it whole or not at all. */
export async function keptArtifacts(jobDir: string): Promise<Artifact[]> {
  const folder = artifactsDir(jobDir);
  const names = (await namesIn(folder)).filter(isArtifactName).sort();
  return await Promise.all(
    names.map(async (name) => {
      const { size, mtime } = await stat(join(folder, name));
      return { name, bytes: size, kept_at: mtime.toISOString() };
    }),
  );
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
