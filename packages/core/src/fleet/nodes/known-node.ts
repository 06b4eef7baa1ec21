import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const identitySchema = z.object({ id: z.string().min(1) });

/** Who the node of a state directory is; undefined where none has been yet. */
export function knownNodeId(stateDir: string): string | undefined {
  try {
    return identitySchema.parse(JSON.parse(readFileSync(join(stateDir, "node.json"), "utf8"))).id;
  } catch {
    return undefined;
  }
}
