import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Artifact } from "@herdctl/protocol";
import { hasErrorCode } from "@herdctl/protocol";

export function artifactsDir(jobDir: string): string {
  return join(jobDir, "artifacts");
}

const namePattern = /^[\p{L}\p{N}][\p{L}\p{N}._ ()+-]*$/u;
const maxNameBytes = 120;

/** A plain name without a path. Names that start with a dot are drafts. */
export function isArtifactName(name: string): boolean {
  return namePattern.test(name) && Buffer.byteLength(name) <= maxNameBytes;
}

/** The folder is the list: it contains complete files only. */
export async function listArtifacts(jobDir: string): Promise<Artifact[]> {
  const folder = artifactsDir(jobDir);
  const names = (await listNames(folder)).filter(isArtifactName).sort();
  return await Promise.all(
    names.map(async (name) => {
      const { size, mtime } = await stat(join(folder, name));
      return { name, bytes: size, kept_at: mtime.toISOString() };
    }),
  );
}

async function listNames(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return [];
    throw error;
  }
}
