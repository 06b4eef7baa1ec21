import { access } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { watch } from "chokidar";

const folderPoll = 100;

/**
 * Tells of changes to a file that may not be there yet, nor its folder, until the signal aborts.
 * chokidar finds a file that comes later, but never sees one whose folder is missing at the start.
 */
export async function watchFile(
  file: string,
  onChange: () => void,
  signal: AbortSignal,
): Promise<void> {
  const folder = dirname(file);
  while (!(await exists(folder))) {
    await sleep(folderPoll, undefined, { signal });
  }
  const watcher = watch(file, { atomic: false });
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
