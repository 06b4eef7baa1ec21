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

const kept = 14 * 24 * 60 * 60 * 1000;

/** Where this machine keeps what is the same in every run and takes long to make. */
export function cachePath(name, recipe) {
  const key = createHash("sha256").update(JSON.stringify(recipe)).digest("hex").slice(0, 12);
  return join(cacheFolder(), `${name}-${key}`);
}

/** True when it is there, and it counts as used now. */
export function isCached(path) {
  if (!existsSync(path)) return false;
  utimesSync(path, new Date(), new Date());
  return true;
}

/** Makes it beside its place, so that whoever does the same meanwhile gets the one or the other. */
export async function fillCache(path, make) {
  mkdirSync(cacheFolder(), { recursive: true, mode: 0o700 });
  dropUnused();
  const draft = `${path}.${process.pid}`;
  try {
    await make(draft);
    if (!existsSync(path)) renameSync(draft, path);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function dropUnused() {
  for (const name of readdirSync(cacheFolder())) {
    const path = join(cacheFolder(), name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > kept) rmSync(path, { recursive: true, force: true });
  }
}

function cacheFolder() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "herdctl-test");
}
