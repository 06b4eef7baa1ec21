import type { StatsFs } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { type Finding, failed, ok, warning } from "../check.ts";

export interface DiskFacts {
  /** What lies there: `the state`, `temporary files`. */
  what: string;
  path: string;
  freeBytes: number;
  /** How many files more; undefined where the file system has no such limit. */
  freeFiles: number | undefined;
}

const mega = 1024 ** 2;
const least = 100 * mega;
const enough = 1024 * mega;
const leastFiles = 1_000;

export async function checkDisk(places: { what: string; path: string }[]): Promise<Finding[]> {
  const facts = await Promise.all(places.map(({ what, path }) => look(what, path)));
  return facts.map(judgeDisk);
}

export function judgeDisk({ what, path, freeBytes, freeFiles }: DiskFacts): Finding {
  const name = "disk";
  const free = freeBytes < enough ? `${Math.floor(freeBytes / mega)} MB` : gigabytes(freeBytes);
  const hint = `Make room on the disk of ${path}; \`fleet.retention\` says how long jobs are kept.`;
  if (freeFiles !== undefined && freeFiles < leastFiles) {
    return failed(name, `For ${what} only ${freeFiles} files more can be made.`, hint);
  }
  if (freeBytes < least) return failed(name, `For ${what} only ${free} are free.`, hint);
  if (freeBytes < enough) return warning(name, `For ${what} only ${free} are free.`, hint);
  return ok(name, `${free} are free for ${what}.`);
}

async function look(what: string, path: string): Promise<DiskFacts> {
  const { bavail, bsize, files, ffree } = await statfsAbove(path);
  const freeFiles = files === 0 ? undefined : ffree;
  return { what, path, freeBytes: bavail * bsize, freeFiles };
}

/** What is not there yet will lie on the disk of the folder above. */
async function statfsAbove(path: string): Promise<StatsFs> {
  try {
    return await statfs(path);
  } catch (error) {
    if (path === dirname(path)) throw error;
    return await statfsAbove(dirname(path));
  }
}

function gigabytes(bytes: number): string {
  return `${Math.floor(bytes / enough)} GB`;
}
