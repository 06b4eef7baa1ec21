import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { runFolders } from "../runner/container/spare.ts";
import { removeHostSocket } from "../runner/host-socket.ts";
import { removeSocket } from "../runner/socket-path.ts";
import { runnerSocketPath } from "./runner-socket.ts";

/** What a runner that came to its end has removed itself: its socket, its folders, its drafts. */
export async function removeTraces(jobDir: string): Promise<void> {
  if (!existsSync(jobDir)) return;
  removeSocket(runnerSocketPath(jobDir));
  removeHostSocket(runFolders(jobDir).doorDir);
  const left = (await readdir(jobDir)).filter((name) => folders.has(name) || isDraft(name));
  for (const name of left) await rm(join(jobDir, name), { recursive: true, force: true });
}

const folders = new Set(["private", "door"]);

/** Of `writeFileAtomic`, and of a claim whose runner died over it. */
export function isDraft(name: string): boolean {
  return /^(\.outcome|runner-\d+)\.json\.[0-9a-f]+$/.test(name);
}
