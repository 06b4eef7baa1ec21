import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { UserError } from "../../errors/user-error.ts";
import { writeFileAtomic } from "../../state/atomic-file.ts";

const identitySchema = z.object({ id: z.string().min(1), name: z.string().min(1) });
type NodeIdentity = z.infer<typeof identitySchema>;

/** Who the node of this state directory is: the same for as long as the directory is. */
export async function nodeIdentity(stateDir: string, name?: string): Promise<NodeIdentity> {
  const file = join(stateDir, "node.json");
  const known = readIdentity(file);
  if (known && (name === undefined || name === known.name)) return known;
  const identity = { id: known?.id ?? `node-${randomUUID()}`, name: name ?? hostname() };
  await writeFileAtomic(file, `${JSON.stringify(identity)}\n`);
  return identity;
}

function readIdentity(file: string): NodeIdentity | undefined {
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  try {
    return identitySchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new UserError("state_damaged", `${file} does not say which node this is`, {
      hint: "Restore the file, or remove it: then this is a new node, and sessions of the old one stay behind.",
      cause,
    });
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
