import { z } from "zod";
import { type OpenedFrom, openInWorkspace } from "./workspace-file.ts";

export type MetadataRead =
  | { kind: "none" }
  | { kind: "found"; metadata: Record<string, unknown> }
  | { kind: "wrong"; warning: string };

const maxBytes = 1024 * 1024;
const schema = z.record(z.string(), z.unknown());

/** The JSON object that the agent left for hooks, if this run wrote one. */
export async function readMetadataFile(
  from: OpenedFrom,
  name: string,
  since: Date,
): Promise<MetadataRead> {
  const wrong = (why: string): MetadataRead => ({
    kind: "wrong",
    warning: `${name} was not used: ${why}`,
  });
  // As seen from the working directory, which has another path in a container.
  const opened = await openInWorkspace(from, name);
  if (opened.kind === "missing") return { kind: "none" };
  if (opened.kind === "refused") return wrong(opened.reason);
  const { file, bytes } = opened;
  try {
    if ((await file.stat()).mtime < since) return { kind: "none" };
    if (bytes > maxBytes) return wrong("it is larger than 1 MB");
    const parsed = schema.safeParse(parseJson(await file.readFile("utf8")));
    return parsed.success
      ? { kind: "found", metadata: parsed.data }
      : wrong("it is not a JSON object");
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
