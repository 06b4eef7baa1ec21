import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { hasErrorCode, UserError } from "@herdctl/protocol";
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
