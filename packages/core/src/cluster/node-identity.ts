import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join, relative, sep } from "node:path";
import type { LoadedFleet } from "@herdctl/config";
import { hasErrorCode, type NodeRole, UserError } from "@herdctl/protocol";
import { z } from "zod";
import { writeFileAtomic } from "../lib/atomic-file.ts";

const identitySchema = z.object({ id: z.string().min(1), name: z.string().min(1) });
type NodeIdentity = z.infer<typeof identitySchema>;

/** The identity of the node of this state directory; it never changes. */
export async function loadNodeIdentity(stateDir: string, name?: string): Promise<NodeIdentity> {
  const file = join(stateDir, "node.json");
  const existing = readIdentity(file);
  if (existing && (name === undefined || name === existing.name)) return existing;
  const identity = { id: existing?.id ?? `node-${randomUUID()}`, name: name ?? hostname() };
  await writeFileAtomic(file, `${JSON.stringify(identity)}\n`);
  return identity;
}

function readIdentity(file: string): NodeIdentity | undefined {
  const text = readIfExists(file);
  if (text === undefined) return undefined;
  try {
    return identitySchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new UserError("state_damaged", `${file} does not contain a valid node identity`, {
      hint: "Restore the file, or remove it. Without it this is a new node, which cannot use the sessions of the old one.",
      cause,
    });
  }
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** The id of the node of a state directory; undefined if it was never a node. */
export function readNodeId(stateDir: string): string | undefined {
  try {
    return identitySchema
      .pick({ id: true })
      .parse(JSON.parse(readFileSync(join(stateDir, "node.json"), "utf8"))).id;
  } catch {
    return undefined;
  }
}

export interface NodeOptions {
  /** Default: `all`. */
  role?: NodeRole;
  /** Labels that agents may require with `runs_on`. */
  labels?: string[];
  /** Default: the name of the machine. */
  name?: string;
  /** Maximum number of jobs at the same time. Default: the fleet's `max_concurrent`. */
  capacity?: number;
}

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
