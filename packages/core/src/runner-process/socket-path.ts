import {
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

/** A longer path is cut by the system without a word. */
const longestPath = 107;
const shortFolder = "herdctl-run-";

/** Where to listen so that `path` leads there: the path itself, or a short one that it links to. */
export function makeSocketPath(path: string): string {
  removeSocket(path);
  if (Buffer.byteLength(path) <= longestPath) return path;
  const folder = mkdtempSync(join(shortRoot(), shortFolder));
  const short = join(folder, basename(path));
  symlinkSync(short, path);
  return short;
}

/** Where to connect to reach what listens at `path`. */
export function findSocketPath(path: string): string {
  return linkTarget(path) ?? path;
}

/** Also what a process left that died. */
export function removeSocket(path: string): void {
  const short = linkTarget(path);
  rmSync(path, { force: true });
  if (short === undefined || !basename(dirname(short)).startsWith(shortFolder)) return;
  attempt(() => unlinkSync(short));
  attempt(() => rmdirSync(dirname(short)));
}

function shortRoot(): string {
  const root = realpathSync(tmpdir());
  return Buffer.byteLength(root) < 60 ? root : "/tmp";
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
    // Somebody else has done it.
  }
}
