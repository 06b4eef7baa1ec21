import { access } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const folderPoll = 100;

/**
 * Tells of changes to a file or folder that may not be there yet, until the signal aborts.
 * chokidar finds a path that comes later, but never sees one whose parent is missing at the start.
 */
export async function watchPath(
  path: string,
  onChange: () => void,
  signal: AbortSignal,
): Promise<void> {
  // Only those who follow a session file need it, and every runner would have to load it.
  const { watch } = await import("chokidar");
  const folder = dirname(path);
  while (!(await exists(folder))) {
    await sleep(folderPoll, undefined, { signal });
  }
  const watcher = watch(path, { atomic: false });
  watcher.on("all", onChange);
  // A watcher that fails leaves the regular look of the follower, which misses nothing.
  watcher.on("error", () => undefined);
  await aborted(signal);
  await watcher.close();
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
