import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { isPlainFolder, readUntrusted } from "./untrusted-file.ts";

/** A subagent with a separate transcript. */
export interface Subagent {
  agentId: string;
  /** The tool call that started it. */
  toolUseId?: string;
  agentType?: string;
  description?: string;
}

export function subagentsFolder(sessionFile: string): string {
  return join(sessionFile.replace(/\.jsonl$/, ""), "subagents");
}

/** Ignores symbolic links, which could point to the folder of another agent. */
export async function listSubagents(folder: string): Promise<string[]> {
  if (!(await isPlainFolder(dirname(folder))) || !(await isPlainFolder(folder))) return [];
  const names = await readdir(folder).catch(() => []);
  return names
    .map((name) => /^agent-(.+)\.jsonl$/.exec(name)?.[1])
    .filter((id) => id !== undefined);
}

export async function readSubagent(folder: string, agentId: string): Promise<Subagent> {
  const file = join(folder, `agent-${agentId}.meta.json`);
  const text = await readUntrusted(file, maxMetaBytes).catch(() => undefined);
  return { agentId, ...parseMeta(text ?? "{}") };
}

const maxMetaBytes = 1024 * 1024;
const optionalText = z.string().optional().catch(undefined);

const metaSchema = z.object({
  toolUseId: optionalText,
  agentType: optionalText,
  description: optionalText,
});

function parseMeta(text: string): z.infer<typeof metaSchema> | undefined {
  try {
    return metaSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
