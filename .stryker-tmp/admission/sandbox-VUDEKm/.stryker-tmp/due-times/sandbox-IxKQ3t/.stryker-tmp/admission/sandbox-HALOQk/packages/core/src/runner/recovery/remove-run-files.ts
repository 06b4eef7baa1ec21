import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { runSubfolders } from "../../docker/mounts.ts";
import { removeSocket } from "../../lib/socket-path.ts";
import { removeHostSocket, runnerSocketPath } from "../contract/paths.ts";

/** Removes the files that a runner normally removes itself: its socket, folders and temporary files. */
export async function removeRunFiles(jobDir: string): Promise<void> {
  if (!existsSync(jobDir)) return;
  removeSocket(runnerSocketPath(jobDir));
  removeHostSocket(runSubfolders(jobDir).socketDir);
  const leftovers = (await readdir(jobDir)).filter(
    (name) => runFolderNames.has(name) || isTempFile(name),
  );
  for (const name of leftovers) await rm(join(jobDir, name), { recursive: true, force: true });
}

const runFolderNames = new Set(["private", "proxy"]);

/** Temporary files of `writeFileAtomic` and of claims whose runner died while writing. */
export function isTempFile(name: string): boolean {
  return /^(\.outcome|runner-\d+)\.json\.[0-9a-f]+$/.test(name);
}
