import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, relative, sep } from "node:path";
import { envFileName } from "../../config/environment.ts";
import type { LoadedFleet } from "../../config/load.ts";

/**
 * The configuration as one word, by which nodes see whether they have the same: the texts of its
 * files, by where they lie from the fleet file. Variables are each machine's own, and so is `.env`.
 */
export function configPrint({ fleet, files }: Pick<LoadedFleet, "fleet" | "files">): string {
  const hash = createHash("sha256");
  const named = files
    .filter((file) => basename(file) !== envFileName)
    .map((file) => ({ name: relative(fleet.dir, file).split(sep).join("/"), file }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, file } of named) hash.update(JSON.stringify([name, textOf(file)]));
  return hash.digest("hex");
}

/** One that is gone since it was read is another configuration. */
function textOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
