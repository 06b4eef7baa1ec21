import { lchown, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ResolvedAgent } from "../config/resolve.ts";
import { ordinary } from "./container/user.ts";
import { type ContainerUser, resolveDockerConfig } from "./runtime/docker-config.ts";

/** Who must own a clone that root makes for an agent in Docker: containers never run as root. */
export function cloneOwner(agent: ResolvedAgent): ContainerUser | undefined {
  if (!agent.docker.enabled || process.getuid?.() !== 0) return undefined;
  return resolveDockerConfig(agent).user ?? ordinary;
}

/** The folder and all in it; a link itself, never what it leads to. */
export async function giveTo({ uid, gid }: ContainerUser, folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const { parentPath, name } of entries) await lchown(join(parentPath, name), uid, gid);
  await lchown(folder, uid, gid);
}
