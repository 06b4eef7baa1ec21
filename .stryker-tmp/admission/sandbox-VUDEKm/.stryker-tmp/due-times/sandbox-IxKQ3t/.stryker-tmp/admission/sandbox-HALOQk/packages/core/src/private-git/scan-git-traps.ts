import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { z } from "zod";
import { openUntrusted } from "./untrusted-file.ts";

/** Files in a work tree that change the behavior of git when it is run there on the host. */
export const gitTrapsSchema = z.object({
  /** Folders with a `.git` entry, other than the workspace itself. */
  nested: z.array(z.string()),
  /** Folders that git would treat as a bare repository. */
  bare: z.array(z.string()),
  /** Files that configure git, with a hash of their content. */
  steering: z.record(z.string(), z.string()),
  isComplete: z.boolean(),
});
export type GitTraps = z.infer<typeof gitTrapsSchema>;

const maxEntries = 300_000;
const maxFound = 1_000;
const maxScanMs = 10_000;
const maxSteeringBytes = 256 * 1024;
const steeringNames = new Set([".gitattributes", ".gitmodules", ".gitconfig", ".lfsconfig"]);

/** Scans a workspace for nested repositories and similar traps, without following symbolic links. */
export async function scanForTraps(
  workspace: string,
  skippedPaths: readonly string[] = [],
): Promise<GitTraps> {
  const traps: GitTraps = { nested: [], bare: [], steering: {}, isComplete: true };
  const skipped = new Set([join(workspace, ".git"), ...skippedPaths]);
  const deadline = Date.now() + maxScanMs;
  const folders = [workspace];
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
    entries += found.length;
    const hasTooManyFindings = traps.nested.length + traps.bare.length > maxFound;
    if (entries > maxEntries || hasTooManyFindings || Date.now() > deadline) {
      return { ...traps, isComplete: false };
    }
    const relativePath = relative(workspace, folder) || ".";
    const names = new Set(found.map(({ name }) => name));
    if (["HEAD", "objects", "refs"].every((name) => names.has(name))) traps.bare.push(relativePath);
    for (const entry of found) {
      const path = join(folder, entry.name);
      if (skipped.has(path)) continue;
      if (entry.name.toLowerCase() === ".git") traps.nested.push(relativePath);
      else if (entry.isDirectory()) folders.push(path);
      else if (steeringNames.has(entry.name)) {
        traps.steering[join(relativePath, entry.name)] = await contentHash(workspace, path);
      }
    }
  }
  return traps;
}

async function contentHash(workspace: string, path: string): Promise<string> {
  const file = await openUntrusted(workspace, relative(workspace, path));
  if (file === undefined) return "no file";
  try {
    if (file.bytes > maxSteeringBytes) return `large ${file.bytes}`;
    return createHash("sha256")
      .update(await file.handle.readFile())
      .digest("hex");
  } finally {
    await file.handle.close();
  }
}

/** Warnings about the traps that a run has added, for the job's record. */
export function describeNewTraps(before: GitTraps, after: GitTraps): string[] {
  const nested = after.nested.filter((path) => !before.nested.includes(path));
  const bare = after.bare.filter((path) => !before.bare.includes(path));
  const steering = Object.entries(after.steering).flatMap(([path, hash]) =>
    before.steering[path] === hash ? [] : [path],
  );
  return [
    ...formatWarning(
      nested,
      "the run created a repository inside the workspace",
      "git on the host executes programs from its configuration: check it before you run git there, or delete its `.git`",
    ),
    ...formatWarning(
      bare,
      "the run created a folder that git treats as a bare repository",
      "do not run git in it; `git config --global safe.bareRepository explicit` makes git refuse it",
    ),
    ...formatWarning(
      steering,
      "the run changed files that configure git",
      "they can select filters, drivers and submodules of your own configuration: check them before you commit",
    ),
    ...(after.isComplete ? [] : [incompleteScanWarning]),
  ];
}

const maxNamed = 5;
const incompleteScanWarning =
  "the workspace is too large to scan for repositories that the run created: check for them before you run git in its folders";

function formatWarning(paths: readonly string[], finding: string, advice: string): string[] {
  if (paths.length === 0) return [];
  const named = paths.slice(0, maxNamed).map((path) => JSON.stringify(path));
  const more = paths.length > maxNamed ? ` and ${paths.length - maxNamed} more` : "";
  return [`${finding} (${named.join(", ")}${more}): ${advice}`];
}
