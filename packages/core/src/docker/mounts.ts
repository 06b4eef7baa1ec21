import { join, posix } from "node:path";

/** A folder, file or socket of the host that is mounted at another path in a container. */
export interface Mount {
  source: string;
  target: string;
  readOnly: boolean;
  /** `source` is the name of a volume of the engine. */
  isVolume?: boolean;
  /** The engine must also make file systems mounted below it read-only, or fail. */
  recursive?: boolean;
}

/** The path of a host file in a container; undefined if it is not mounted. */
export function toContainerPath(path: string, mounts: readonly Mount[]): string | undefined {
  const hostMounts = mounts.filter(({ isVolume }) => !isVolume);
  return translate(path, hostMounts, ({ source, target }) => [source, target]);
}

/** The host path for a path in a container; undefined if the path is not mounted. */
export function toHostPath(path: string, mounts: readonly Mount[]): string | undefined {
  const hostMounts = mounts.filter(({ isVolume }) => !isVolume);
  return translate(path, hostMounts, ({ source, target }) => [target, source]);
}

/** The longest match wins, because that mount is on top. */
function translate(
  path: string,
  mounts: readonly Mount[],
  direction: (mount: Mount) => [from: string, to: string],
): string | undefined {
  const clean = posix.normalize(path);
  const [best] = mounts
    .map(direction)
    .filter(([from]) => isBelow(clean, from))
    .sort(([a], [b]) => b.length - a.length);
  return best && posix.join(best[1], clean.slice(best[0].length));
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** Folders for private files and sockets of a run, in the folder of the job or of a kept session. */
export function runSubfolders(folder: string): { privateDir: string; socketDir: string } {
  return { privateDir: join(folder, "private"), socketDir: join(folder, "proxy") };
}
