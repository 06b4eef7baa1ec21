import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** A folder of sockets that is mounted into a container. */
export interface SocketFolder {
  folder: string;
  /** The path to listen on for a socket with this name in the folder. */
  socketPathFor(name: string): string;
  close(): void;
}

/** The operating system silently truncates a longer path. */
const maxSocketPathBytes = 107;

/**
 * The container's user differs from ours and must be able to connect. Other users of the host cannot
 * reach the folder, because the job's folder around it is private.
 */
export function openSocketFolder(folder: string): SocketFolder {
  mkdirSync(folder, { recursive: true });
  // The folder itself is kept, because a container may already have mounted it.
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  chmodSync(folder, 0o755);
  const fd = openSync(folder, "r");
  return {
    folder,
    socketPathFor: (name) => {
      const path = join(folder, name);
      return Buffer.byteLength(path) <= maxSocketPathBytes ? path : `/proc/self/fd/${fd}/${name}`;
    },
    close: () => {
      closeSync(fd);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
