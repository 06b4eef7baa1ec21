import { createHash } from "node:crypto";
import { relative, sep } from "node:path";
import type { LoadedFleet } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";

/**
 * Hash of the configuration, by which nodes compare it: the text of each file, with its path
 * relative to the fleet file. Variables and `.env` differ between machines, so they are left out.
 */
export function configHash({ fleet, texts }: Pick<LoadedFleet, "fleet" | "texts">): string {
  const hash = createHash("sha256");
  const sortedTexts = [...texts]
    .map(([file, text]) => ({ name: relative(fleet.dir, file).split(sep).join("/"), text }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, text } of sortedTexts) hash.update(JSON.stringify([name, text]));
  return hash.digest("hex");
}

/** The problem of a node whose files differ from those of the others. */
export const configDiffersMessage =
  "this node has a different configuration than the one in force, so it takes no new jobs. Give it the same files, or run `herdctl reload` on a node with the correct files";

export function nodeRefusedError(
  ownHash: string,
  { configHash, nodes }: { configHash: string; nodes: string[] },
): UserError {
  const shortHash = (text: string) => text.slice(0, 12);
  const runningNodes = `${nodes.join(", ")} ${nodes.length === 1 ? "runs" : "run"}`;
  return new UserError(
    "node_refused",
    `${runningNodes} a different configuration (${shortHash(configHash)}) than this node (${shortHash(ownHash)})`,
  );
}
