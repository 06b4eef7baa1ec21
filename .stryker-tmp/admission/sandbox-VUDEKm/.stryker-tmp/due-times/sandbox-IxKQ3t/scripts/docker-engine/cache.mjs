import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const maxAgeMs = 14 * 24 * 60 * 60 * 1000;

/** The path of a cached build product. The recipe is part of its name. */
export function cachePath(name, recipe) {
  const key = createHash("sha256").update(JSON.stringify(recipe)).digest("hex").slice(0, 12);
  return join(cacheFolder(), `${name}-${key}`);
}

/** Whether the path exists. Updates its time of last use. */
export function isCached(path) {
  if (!existsSync(path)) return false;
  utimesSync(path, new Date(), new Date());
  return true;
}

/** Writes to a temporary path and renames it, so that concurrent runs never see a partial result. */
export async function fillCache(path, make) {
  mkdirSync(cacheFolder(), { recursive: true, mode: 0o700 });
  removeUnused();
  const draft = `${path}.${process.pid}`;
  try {
    await make(draft);
    if (!existsSync(path)) renameSync(draft, path);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function removeUnused() {
  for (const name of readdirSync(cacheFolder())) {
    const path = join(cacheFolder(), name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > maxAgeMs) rmSync(path, { recursive: true, force: true });
  }
}

function cacheFolder() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "herdctl-test");
}
