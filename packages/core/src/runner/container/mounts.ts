import { posix } from "node:path";

/** A folder, file or socket of this machine that a container sees at another place. */
export interface Mount {
  source: string;
  target: string;
  readOnly: boolean;
  /** The engine has to make the file systems mounted below it read-only as well, or fail. */
  recursive?: boolean;
}

/** The path by which a container sees something of this machine; undefined when it does not. */
export function toContainer(path: string, mounts: readonly Mount[]): string | undefined {
  return translate(path, mounts, ({ source, target }) => [source, target]);
}

/** What a path in a container is on this machine; undefined when it is the container's own. */
export function toHost(path: string, mounts: readonly Mount[]): string | undefined {
  return translate(path, mounts, ({ source, target }) => [target, source]);
}

/** The longest match counts: that is the mount which lies on top. */
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
