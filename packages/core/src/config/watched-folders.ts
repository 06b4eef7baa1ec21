import { dirname, resolve } from "node:path";
import { at } from "../document/tree.ts";
import type { LoadedFleet } from "./load.ts";

/** Where the files that were read lie, and where a pattern of the fleet file could find further ones. */
export function foldersOf({ fleet, files, trees }: LoadedFleet): string[] {
  const entries = at(trees.fleet, ["agents"]);
  const patterns = (entries?.kind === "list" ? entries.items : []).flatMap((entry) => {
    const path = at(entry, ["path"]);
    return path?.kind === "scalar" ? [String(path.value)] : [];
  });
  const plain = patterns.map((pattern) => resolve(fleet.dir, pattern.replace(/[*?[{(!].*$/, "x")));
  return [...new Set([...files, ...plain].map((file) => dirname(file)))].sort();
}
