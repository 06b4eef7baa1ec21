import type { WorkingDirectory } from "../config/resolve.ts";
import type { ContainerUser } from "./runtime/docker-config.ts";
import { prepareClone } from "./workspace-clone.ts";
import { checkFolder, type Workspace } from "./workspace-folder.ts";

/** Where the agent works: a folder that is there, or a clone that is made when it is not. */
export async function prepareWorkspace(
  { path, clone }: WorkingDirectory,
  signal: AbortSignal,
  owner?: ContainerUser,
): Promise<Workspace> {
  return clone ? await prepareClone(path, clone, signal, owner) : await checkFolder(path);
}
