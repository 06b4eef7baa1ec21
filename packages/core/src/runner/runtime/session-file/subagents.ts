import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

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

export async function listSubagents(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .map((name) => /^agent-(.+)\.jsonl$/.exec(name)?.[1])
    .filter((id) => id !== undefined);
}

export async function readSubagent(folder: string, agentId: string): Promise<Subagent> {
  const text = await readFile(join(folder, `agent-${agentId}.meta.json`), "utf8").catch(() => "{}");
  return { agentId, ...parseMeta(text) };
}

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
