import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** A folder of sockets that is mounted into a container. */
export interface Door {
  folder: string;
  /** Where to listen so that the socket appears in the folder under this name. */
  listenAt(name: string): string;
  close(): void;
}

/** A longer path is cut by the system without a word. */
const longestPath = 107;

/**
 * The container's user is another than ours and must be able to connect; on this machine nobody
 * else gets as far as the folder, because the job's own folder around it is closed.
 */
export function openDoor(folder: string): Door {
  mkdirSync(folder, { recursive: true });
  // The folder itself stays: a container may have it already.
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  chmodSync(folder, 0o755);
  const handle = openSync(folder, "r");
  return {
    folder,
    listenAt: (name) => {
      const path = join(folder, name);
      return Buffer.byteLength(path) <= longestPath ? path : `/proc/self/fd/${handle}/${name}`;
    },
    close: () => {
      closeSync(handle);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
