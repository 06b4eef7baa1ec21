import { createHash } from "node:crypto";
import { relative, sep } from "node:path";
import type { LoadedFleet } from "../../config/load.ts";

/**
 * The configuration as one word, by which nodes see whether they have the same: the texts of its
 * files as they were read, by where they lie from the fleet file. Variables are each machine's own,
 * and so is `.env`.
 */
export function configPrint({ fleet, texts }: Pick<LoadedFleet, "fleet" | "texts">): string {
  const hash = createHash("sha256");
  const named = [...texts]
    .map(([file, text]) => ({ name: relative(fleet.dir, file).split(sep).join("/"), text }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, text } of named) hash.update(JSON.stringify([name, text]));
  return hash.digest("hex");
}
