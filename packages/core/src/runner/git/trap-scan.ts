import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { z } from "zod";
import { openUntrusted } from "./untrusted-file.ts";

/** What in a work tree changes how git behaves when somebody on the host runs it there. */
export const gitTrapsSchema = z.object({
  /** Folders that hold an entry `.git`, other than the workspace itself. */
  nested: z.array(z.string()),
  /** Folders that git would take for a bare repository. */
  bare: z.array(z.string()),
  /** Files that steer git, with a hash of what is in them. */
  steering: z.record(z.string(), z.string()),
  isComplete: z.boolean(),
});
export type GitTraps = z.infer<typeof gitTrapsSchema>;

const maxEntries = 300_000;
const maxFound = 1_000;
const maxScanMs = 10_000;
const maxSteeringBytes = 256 * 1024;
const steeringNames = new Set([".gitattributes", ".gitmodules", ".gitconfig", ".lfsconfig"]);

/** Looks through a workspace for nested repositories and the like; links are not followed. */
export async function scanForTraps(
  workspace: string,
  skip: readonly string[] = [],
): Promise<GitTraps> {
  const traps: GitTraps = { nested: [], bare: [], steering: {}, isComplete: true };
  const skipped = new Set([join(workspace, ".git"), ...skip]);
  const deadline = Date.now() + maxScanMs;
  const folders = [workspace];
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
    entries += found.length;
    const isFull = traps.nested.length + traps.bare.length > maxFound;
    if (entries > maxEntries || isFull || Date.now() > deadline) {
      return { ...traps, isComplete: false };
    }
    const inner = relative(workspace, folder) || ".";
    const names = new Set(found.map(({ name }) => name));
    if (["HEAD", "objects", "refs"].every((name) => names.has(name))) traps.bare.push(inner);
    for (const entry of found) {
      const path = join(folder, entry.name);
      if (skipped.has(path)) continue;
      if (entry.name.toLowerCase() === ".git") traps.nested.push(inner);
      else if (entry.isDirectory()) folders.push(path);
      else if (steeringNames.has(entry.name)) {
        traps.steering[join(inner, entry.name)] = await contentHash(workspace, path);
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

/** What a run has added, in words for the record of its job. */
export function newTraps(before: GitTraps, after: GitTraps): string[] {
  const nested = after.nested.filter((path) => !before.nested.includes(path));
  const bare = after.bare.filter((path) => !before.bare.includes(path));
  const steering = Object.entries(after.steering).flatMap(([path, hash]) =>
    before.steering[path] === hash ? [] : [path],
  );
  return [
    ...warning(
      nested,
      "the run made a repository inside of the workspace",
      "git on the host executes what its configuration names: look at it before you run git there, or delete its `.git`",
    ),
    ...warning(
      bare,
      "the run made a folder that git takes for a bare repository",
      "do not run git in it; `git config --global safe.bareRepository explicit` makes git refuse it",
    ),
    ...warning(
      steering,
      "the run changed files that steer git",
      "they choose among the filters, drivers and submodules of your own configuration: look at them before you commit",
    ),
    ...(after.isComplete ? [] : [tooLarge]),
  ];
}

const maxNamed = 5;
const tooLarge =
  "the workspace is too large to be searched for repositories that the run made: look for them before you run git in its folders";

function warning(paths: readonly string[], what: string, advice: string): string[] {
  if (paths.length === 0) return [];
  const named = paths.slice(0, maxNamed).map((path) => JSON.stringify(path));
  const more = paths.length > maxNamed ? ` and ${paths.length - maxNamed} more` : "";
  return [`${what} (${named.join(", ")}${more}): ${advice}`];
}
