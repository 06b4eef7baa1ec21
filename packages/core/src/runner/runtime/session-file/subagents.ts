import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { isPlainFolder, readPlanted } from "./planted.ts";

/** Who wrote a transcript of its own beside the session's. */
export interface Subagent {
  agentId: string;
  /** The tool call that started it. */
  toolUseId?: string;
  agentType?: string;
  description?: string;
}

/** Where the subagents of a session keep their transcripts. */
export function subagentsFolder(sessionFile: string): string {
  return join(sessionFile.replace(/\.jsonl$/, ""), "subagents");
}

/** A link in the place of their folder would lead to another agent's. */
export async function listSubagents(folder: string): Promise<string[]> {
  if (!(await isPlainFolder(dirname(folder))) || !(await isPlainFolder(folder))) return [];
  const names = await readdir(folder).catch(() => []);
  return names
    .map((name) => /^agent-(.+)\.jsonl$/.exec(name)?.[1])
    .filter((id) => id !== undefined);
}

export async function readSubagent(folder: string, agentId: string): Promise<Subagent> {
  const file = join(folder, `agent-${agentId}.meta.json`);
  const text = await readPlanted(file, maxMetaBytes).catch(() => undefined);
  return { agentId, ...parseMeta(text ?? "{}") };
}

const maxMetaBytes = 1024 * 1024;
const optionalText = z.string().optional().catch(undefined);

const metaShape = z.object({
  toolUseId: optionalText,
  agentType: optionalText,
  description: optionalText,
});

function parseMeta(text: string): z.infer<typeof metaShape> | undefined {
  try {
    return metaShape.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
