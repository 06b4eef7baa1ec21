import {
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { UserError } from "../errors/user-error.ts";

/** The operating system truncates a longer path without an error. */
const maxSocketPathBytes = process.platform === "darwin" ? 103 : 107;
const shortFolderPrefix = "herdctl-run-";

/**
 * Where to listen so that `path` leads there: the path itself, or a short one in a new folder that
 * only this user can open, to which `path` becomes a link.
 */
export function makeSocketPath(path: string): string {
  removeSocket(path);
  if (Buffer.byteLength(path) <= maxSocketPathBytes) return path;
  const folder = mkdtempSync(join(shortRoot(), shortFolderPrefix));
  const short = join(folder, basename(path));
  symlinkSync(short, path);
  return short;
}

/** Where to connect to reach the server that listens at `path`. */
export function findSocketPath(path: string): string {
  return linkTarget(path) ?? path;
}

/** Also removes the socket of a process that was killed. */
export function removeSocket(path: string): void {
  const short = linkTarget(path);
  rmSync(path, { force: true });
  if (short === undefined || !basename(dirname(short)).startsWith(shortFolderPrefix)) return;
  attempt(() => unlinkSync(short));
  attempt(() => rmdirSync(dirname(short)));
}

/** `herdctl-run-XXXXXX/` and the name of the socket. */
const maxTailBytes = 40;

function shortRoot(): string {
  const root = [tmpdir(), "/tmp"].map(realPath).find((one) => one !== undefined && isUsable(one));
  if (root !== undefined) return root;
  throw new UserError("config_invalid", "no temporary folder is safe for the socket of a run", {
    hint: "Use a state directory with a shorter path, or set TMPDIR to a short path that only you can write to.",
  });
}

/** In a folder where other users can rename entries, they could replace our folder after a crash. */
function isUsable(root: string): boolean {
  const { uid, mode } = statSync(root);
  const isOwned = uid === 0 || uid === process.getuid?.();
  const isProtected = (mode & 0o022) === 0 || (mode & 0o1000) !== 0;
  return isOwned && isProtected && Buffer.byteLength(root) + maxTailBytes <= maxSocketPathBytes;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // Another process has done it already.
  }
}
