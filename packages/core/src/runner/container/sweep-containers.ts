import type { ContainerManager } from "../runtime/container-manager.ts";
import { fleetIdOf } from "./fleet-id.ts";
import { jobOf, labels } from "./labels.ts";
import { hasMountpoints, removeMountpoints } from "./mountpoints.ts";

/**
 * Ends and removes containers of this fleet, and of nobody else, whose job is over. A job is on
 * record as running before its container is made, so it is asked for after the containers are.
 */
export async function sweepContainers(
  manager: ContainerManager,
  stateDir: string,
  /** The id of the job is empty for a spare that has none yet. */
  isOver: (jobId: string, containerId: string) => Promise<boolean>,
): Promise<string[]> {
  const removed: string[] = [];
  for (const found of await manager.find({ [labels.fleet]: fleetIdOf(stateDir) })) {
    if (!(await isOver(jobOf(found), found.id))) continue;
    await manager.remove(found.id);
    removed.push(found.id);
  }
  await freeMountpoints(manager, stateDir);
  return removed;
}

/** Takes placeholders out of workspaces that no container has any more, whoever's it is. */
export async function freeMountpoints(manager: ContainerManager, stateDir: string): Promise<void> {
  if (!hasMountpoints(stateDir)) return;
  const all = await manager.findLabelled(labels.workspace);
  const used = new Set(all.map((one) => one.labels[labels.workspace]));
  removeMountpoints(stateDir, (workspace) => used.has(workspace));
}
