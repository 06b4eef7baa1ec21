import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { z } from "zod";

export type MetadataRead =
  | { kind: "none" }
  | { kind: "found"; metadata: Record<string, unknown> }
  | { kind: "wrong"; warning: string };

const largest = 1024 * 1024;
const schema = z.record(z.string(), z.unknown());

/** The JSON object that the agent left for hooks, if this run wrote one. */
export async function readMetadataFile(
  workspace: string,
  name: string,
  since: Date,
): Promise<MetadataRead> {
  const path = join(workspace, name);
  const wrong = (why: string): MetadataRead => ({
    kind: "wrong",
    warning: `${name} was not used: ${why}`,
  });
  try {
    const root = await realpath(workspace);
    const target = await realpath(path);
    if (!target.startsWith(root + sep)) return wrong("it leads out of the working directory");
    return await readChecked(target, since, wrong);
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    return isMissing ? { kind: "none" } : wrong("it cannot be read");
  }
}

async function readChecked(
  path: string,
  since: Date,
  wrong: (why: string) => MetadataRead,
): Promise<MetadataRead> {
  // Without it, opening a pipe that an agent left would wait for somebody to write.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return wrong("it is not a file");
    const { size, mtime } = stats;
    if (mtime < since) return { kind: "none" };
    if (size > largest) return wrong("it is larger than 1 MB");
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
