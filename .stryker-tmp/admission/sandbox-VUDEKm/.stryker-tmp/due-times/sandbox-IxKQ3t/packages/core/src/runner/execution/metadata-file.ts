import { z } from "zod";
import { openWorkspaceFile, type WorkspaceAccess } from "./workspace-file.ts";

export type MetadataReadResult =
  | { kind: "none" }
  | { kind: "found"; metadata: Record<string, unknown> }
  | { kind: "wrong"; warning: string };

const maxBytes = 1024 * 1024;
const metadataSchema = z.record(z.string(), z.unknown());

/** The JSON object that the agent wrote for hooks, if it did so during this run. */
export async function readMetadataFile(
  from: WorkspaceAccess,
  name: string,
  since: Date,
): Promise<MetadataReadResult> {
  const invalid = (why: string): MetadataReadResult => ({
    kind: "wrong",
    warning: `${name} was not used: ${why}`,
  });
  // Resolved against the working directory, whose path differs in a container.
  const opened = await openWorkspaceFile(from, name);
  if (opened.kind === "missing") return { kind: "none" };
  if (opened.kind === "refused") return invalid(opened.reason);
  const { file, bytes } = opened;
  try {
    if ((await file.stat()).mtime < since) return { kind: "none" };
    if (bytes > maxBytes) return invalid("it is larger than 1 MB");
    const parsed = metadataSchema.safeParse(parseJson(await file.readFile("utf8")));
    return parsed.success
      ? { kind: "found", metadata: parsed.data }
      : invalid("it is not a JSON object");
  } finally {
    await file.close();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
