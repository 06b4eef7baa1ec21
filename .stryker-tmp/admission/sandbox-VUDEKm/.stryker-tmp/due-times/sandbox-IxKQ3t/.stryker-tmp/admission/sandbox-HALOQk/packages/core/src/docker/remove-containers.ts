import { runTokenOf } from "../lib/run-token.ts";
import { type ContainerJob, containerJobOf, fleetIdOf, labels } from "./container-labels.ts";
import type { ContainerManager } from "./container-manager.ts";
import { hasMountpoints, removeMountpoints } from "./mountpoints.ts";

/**
 * Stops and removes containers of this fleet whose job is over. Jobs are checked after listing the
 * containers, because a job is recorded as running before its container is created.
 */
export async function removeFinishedContainers(
  manager: ContainerManager,
  stateDir: string,
  isOver: (run: ContainerJob) => Promise<boolean>,
): Promise<string[]> {
  const removed: string[] = [];
  for (const found of await manager.find({ [labels.fleet]: fleetIdOf(stateDir) })) {
    if (!(await isOver(containerJobOf(found)))) continue;
    await manager.remove(found.id);
    removed.push(found.id);
  }
  await removeUnusedMountpoints(manager, stateDir);
  return removed;
}

/** Removes the containers of a job's attempts, and the kept-alive containers with these run tokens. */
export async function removeContainersOf(
  manager: ContainerManager,
  stateDir: string,
  jobId: string,
  runTokens: readonly string[] = [],
): Promise<string[]> {
  return await removeFinishedContainers(
    manager,
    stateDir,
    async (run) => run.jobId === jobId || runTokens.includes(runTokenOf(run)),
  );
}

/** Removes placeholders from workspaces that no container of any fleet uses any more. */
export async function removeUnusedMountpoints(
  manager: ContainerManager,
  stateDir: string,
): Promise<void> {
  if (!hasMountpoints(stateDir)) return;
  const all = await manager.findWithLabel(labels.workspace);
  const used = new Set(all.map((container) => container.labels[labels.workspace]));
  removeMountpoints(stateDir, (workspace) => used.has(workspace));
}
