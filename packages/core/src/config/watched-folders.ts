import { dirname, relative, sep } from "node:path";
import { ProblemsError } from "../document/problem.ts";
import type { LoadedFleet } from "./load.ts";

/** A folder whose files matter, and so many levels of folders below it. */
export interface WatchedFolder {
  path: string;
  below: number;
}

/** Where the files that were read lie, and where a pattern could find further ones. */
export function watchedFolders({
  files,
  patterns,
}: Pick<LoadedFleet, "files" | "patterns">): WatchedFolder[] {
  const known = new Map<string, number>();
  for (const { path, below } of [...files.map(folderOf), ...patterns.map(searched)]) {
    known.set(path, Math.max(below, known.get(path) ?? 0));
  }
  return [...known].map(([path, below]) => ({ path, below })).sort(byPath);
}

/** Whether files in a folder matter. What patterns pass over, and what tools fill, is left out. */
export function isWatched(watched: readonly WatchedFolder[], folder: string): boolean {
  return watched.some(({ path, below }) => {
    const way = relative(path, folder);
    const steps = way === "" ? [] : way.split(sep);
    return steps.length <= below && !steps.some((step) => /^\.|^node_modules$/.test(step));
  });
}

/** The files in which something was found wrong. */
export function filesBlamed(error: unknown): string[] {
  return error instanceof ProblemsError ? error.problems.map(({ file }) => file) : [];
}

function folderOf(file: string): WatchedFolder {
  return { path: dirname(file), below: 0 };
}

function searched(pattern: string): WatchedFolder {
  const path = dirname(pattern.replace(/[*?[{(!].*$/, "x"));
  const steps = pattern.slice(path.length + 1).split("/");
  return { path, below: steps.includes("**") ? Number.POSITIVE_INFINITY : steps.length - 1 };
}

function byPath(a: WatchedFolder, b: WatchedFolder): number {
  return a.path < b.path ? -1 : Number(a.path > b.path);
}
