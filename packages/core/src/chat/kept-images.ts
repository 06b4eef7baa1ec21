import { existsSync } from "node:fs";
import { mkdir, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ResolvedAgent } from "../config/resolve.ts";
import type { ChatMessage } from "../state/chat.ts";

const folderName = ".herdctl-chat";
const endings: Record<string, string> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
};

export function isImage(type: string): boolean {
  return Object.hasOwn(endings, type);
}

/** A container can put a link where we would write; on the host an agent can write there anyway. */
export function takesImages({ docker, working_directory }: ResolvedAgent): boolean {
  return !docker.enabled && existsSync(working_directory.path);
}

/** Puts an image into the agent's folder under a name of ours, and says where it lies there. */
export async function keepImage(
  { working_directory }: ResolvedAgent,
  message: ChatMessage,
  image: { number: number; type: string; content: Buffer },
): Promise<string> {
  const folder = join(folderName, message.id);
  await mkdir(join(working_directory.path, folder), { recursive: true });
  await writeFile(join(working_directory.path, folderName, ".gitignore"), "*\n");
  const path = join(folder, `image-${image.number}.${endings[image.type] ?? "bin"}`);
  await writeFile(join(working_directory.path, path), image.content);
  return path;
}

/** The message is answered; with the last one of them the folder goes too. */
export async function removeImages(agent: ResolvedAgent, { id }: ChatMessage): Promise<void> {
  if (agent.docker.enabled) return;
  const folder = join(agent.working_directory.path, folderName);
  await rm(join(folder, id), { recursive: true, force: true }).catch(() => undefined);
  await rm(join(folder, ".gitignore"), { force: true }).catch(() => undefined);
  await rmdir(folder).catch(() => undefined);
}
