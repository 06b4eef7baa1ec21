import { readlinkSync } from "node:fs";

/** The operating system cuts a longer path silently and uses another one. */
const longest = process.platform === "darwin" ? 103 : 107;

export function isTooLong(path: string): boolean {
  return Buffer.byteLength(path) > longest;
}

/** Where to connect: at a path that is too long for a socket there is a link to a shorter one. */
export function socketAt(path: string): string {
  if (!isTooLong(path)) return path;
  try {
    return readlinkSync(path);
  } catch {
    return path;
  }
}
