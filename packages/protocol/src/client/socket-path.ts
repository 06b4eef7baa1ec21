import { readlinkSync } from "node:fs";

/** The operating system silently truncates longer paths. */
const maxSocketPathBytes = process.platform === "darwin" ? 103 : 107;

export function isSocketPathTooLong(path: string): boolean {
  return Buffer.byteLength(path) > maxSocketPathBytes;
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
