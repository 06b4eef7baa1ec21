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
import { UserError } from "@herdctl/protocol";

/** The operating system truncates a longer path without an error. */
const maxSocketPathBytes = process.platform === "darwin" ? 103 : 107;
const shortFolderPrefix = "herdctl-run-";

/**
 * The path to listen on for `path`: `path` itself, or, if that is too long, a short path in a new
 * folder that only this user can open. `path` then becomes a symbolic link to it.
 */
export function makeSocketPath(path: string): string {
  removeSocket(path);
  if (Buffer.byteLength(path) <= maxSocketPathBytes) return path;
  const folder = mkdtempSync(join(shortRoot(), shortFolderPrefix));
  const shortPath = join(folder, basename(path));
  symlinkSync(shortPath, path);
  return shortPath;
}

/** Where to connect to reach the server that listens at `path`. */
export function findSocketPath(path: string): string {
  return linkTarget(path) ?? path;
}

/** Also removes the socket of a process that was killed. */
export function removeSocket(path: string): void {
  const shortPath = linkTarget(path);
  rmSync(path, { force: true });
  if (shortPath === undefined || !basename(dirname(shortPath)).startsWith(shortFolderPrefix))
    return;
  ignoreErrors(() => unlinkSync(shortPath));
  ignoreErrors(() => rmdirSync(dirname(shortPath)));
}

/** `herdctl-run-XXXXXX/` and the name of the socket. */
const maxTailBytes = 40;

function shortRoot(): string {
  const root = [tmpdir(), "/tmp"]
    .map(realPath)
    .find((folder) => folder !== undefined && isUsable(folder));
  if (root !== undefined) return root;
  throw new UserError("config_invalid", "no temporary folder is safe for the socket of a run", {
    hint: "Use a state directory with a shorter path, or set TMPDIR to a short path that only you can write to.",
  });
}

/** If other users can rename entries of the root, they can replace our folder after a crash. */
function isUsable(root: string): boolean {
  const { uid, mode } = statSync(root);
  const isOwned = uid === 0 || uid === process.getuid?.();
  const isProtected = (mode & 0o022) === 0 || (mode & 0o1000) !== 0;
  // defence: protected-socket-folder
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

function ignoreErrors(step: () => void): void {
  try {
    step();
  } catch {
    // Another process has already done it.
  }
}
