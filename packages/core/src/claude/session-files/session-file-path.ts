import { realpathSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SessionHomeKind } from "@herdctl/protocol";
import { z } from "zod";
import { containerPaths } from "../../lib/container-layout.ts";
import { isPlainFolder, readUntrusted } from "./untrusted-file.ts";

/** Where to find a transcript: Claude Code stores it by the working directory. */
export interface SessionHome {
  place: SessionHomeKind;
  configDir: string;
  /** The folder on the host. */
  cwd: string;
}

export function sessionFilePath({ place, configDir, cwd }: SessionHome, sessionId: string): string {
  const projectPath = place === "docker" ? containerPaths.workspace : realpathSync(cwd);
  return join(configDir, "projects", encodeProjectPath(projectPath), `${sessionId}.jsonl`);
}

const maxNameLength = 200;

/** Claude Code's folder name for a project. Different paths can have the same name. */
export function encodeProjectPath(realpath: string): string {
  const name = realpath.replace(/[^A-Za-z0-9]/g, "-");
  if (name.length <= maxNameLength) return name;
  return `${name.slice(0, maxNameLength)}-${hash(realpath)}`;
}

function hash(text: string): string {
  let sum = 0;
  for (let unit = 0; unit < text.length; unit += 1) {
    sum = ((sum << 5) - sum + text.charCodeAt(unit)) | 0;
  }
  return Math.abs(sum).toString(36);
}

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
