import { readlinkSync } from "node:fs";

/** The operating system silently truncates longer paths. */
export function isSocketPathTooLong(path: string): boolean {
  // Not a constant of the module: browsers load this package too, and they have no `process`.
  const maxBytes = process.platform === "darwin" ? 103 : 107;
  return Buffer.byteLength(path) > maxBytes;
}

/** The path to connect to. A path that is too long for a socket is a link to a shorter one. */
export function resolveSocketPath(path: string): string {
  if (!isSocketPathTooLong(path)) return path;
  try {
    return readlinkSync(path);
  } catch {
    return path;
  }
}
