import { isAbsolute, relative } from "node:path";

/** A path as seen from a folder, if it lies in there. */
export function shortPath(path: string, folder: string | undefined): string {
  if (folder === undefined || !isAbsolute(path)) return path;
  const short = relative(folder, path);
  return short.startsWith("..") ? path : short || ".";
}
