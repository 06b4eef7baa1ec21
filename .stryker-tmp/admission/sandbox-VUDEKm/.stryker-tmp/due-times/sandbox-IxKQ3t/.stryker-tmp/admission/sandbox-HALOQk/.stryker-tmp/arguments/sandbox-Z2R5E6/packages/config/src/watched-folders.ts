import { dirname, relative, sep } from "node:path";
import { ProblemsError } from "@herdctl/protocol";
import type { LoadedFleet } from "./load-fleet.ts";

/** A folder whose files matter, and how many levels of its subfolders. */
export interface WatchedFolder {
  path: string;
  depth: number;
}

/**
 * The folders of all files that were read, and the folders in which a pattern could match more
 * files.
 */
export function listWatchedFolders({
  files,
  patterns,
}: Pick<LoadedFleet, "files" | "patterns">): WatchedFolder[] {
  const depthByPath = new Map<string, number>();
  for (const { path, depth } of [
    ...files.map(toWatchedFolder),
    ...patterns.map(patternToWatchedFolder),
  ]) {
    depthByPath.set(path, Math.max(depth, depthByPath.get(path) ?? 0));
  }
  return [...depthByPath].map(([path, depth]) => ({ path, depth })).sort(byPath);
}

/** Whether files in a folder matter. Dot folders and `node_modules` are left out. */
export function isWatched(watched: readonly WatchedFolder[], folder: string): boolean {
  return watched.some(({ path, depth }) => {
    const relativePath = relative(path, folder);
    const steps = relativePath === "" ? [] : relativePath.split(sep);
    return steps.length <= depth && !steps.some((step) => /^\.|^node_modules$/.test(step));
  });
}

/** The files that have problems. */
export function listProblemFiles(error: unknown): string[] {
  return error instanceof ProblemsError ? error.problems.map(({ file }) => file) : [];
}

function toWatchedFolder(file: string): WatchedFolder {
  return { path: dirname(file), depth: 0 };
}

function patternToWatchedFolder(pattern: string): WatchedFolder {
  const path = dirname(pattern.replace(/[*?[{(!].*$/, "x"));
  const steps = pattern.slice(path.length + 1).split("/");
  return { path, depth: steps.includes("**") ? Number.POSITIVE_INFINITY : steps.length - 1 };
}

function byPath(a: WatchedFolder, b: WatchedFolder): number {
  return a.path < b.path ? -1 : Number(a.path > b.path);
}
